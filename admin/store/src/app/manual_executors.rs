//! Addresses of executors that people enter, and executors that people remove.

use carillon_scheduler::{AuditAction, Millis};
use serde_json::json;

use crate::app::apps::App;
use crate::app::executors::NEVER;
use crate::audit::actor::Actor;
use crate::audit::change::PendingEntry;
use crate::audit::entry::AuditObject;
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::views::AppStore;

impl AppStore<'_> {
    /// Enters an address: it counts as live until it is removed, whether the executor registers or not. The caller has checked it.
    ///
    /// # Errors
    /// `InUse`: it was entered before, or the app has `most` such addresses.
    pub async fn enter_executor(self, app: &App, address: &str, most: u32, now: Millis, actor: &Actor) -> Result<()> {
        let audit = self.audit().pending_entry(actor, now).await?;
        retry::on_race(|| self.try_enter_executor(app, address, most, audit)).await
    }

    async fn try_enter_executor(self, app: &App, address: &str, most: u32, audit: PendingEntry<'_>) -> Result<()> {
        let now = audit.now;
        let tx = self.begin_change().await?;
        let key = values![app.name.as_str(), address];
        let text = "SELECT manual_since FROM executor WHERE app = ? AND address = ?{for_update}";
        let registered: Option<Option<Millis>> = self.tuple(&tx, text, key.clone()).await?;
        if registered.flatten().is_some() {
            return Err(Error::InUse(format!("{address} was entered already")));
        }
        let text = "SELECT COUNT(*) FROM executor WHERE app = ? AND manual_since IS NOT NULL";
        let others: Option<i64> = self.tuple(&tx, text, values![app.name.as_str()]).await?;
        if others.unwrap_or(0) >= i64::from(most) {
            let text = format!("app {} has {most} addresses that were entered by hand; remove one first", app.name);
            return Err(Error::InUse(text));
        }
        if registered.is_some() {
            let text = "UPDATE executor SET manual_since = ?, expires_at = ? WHERE app = ? AND address = ?";
            self.execute(&tx, text, [values![now, NEVER], key].concat()).await?;
        } else {
            let columns = "app, address, registered_at, seen_at, expires_at, manual_since";
            self.insert_rows(&tx, "executor", columns, vec![[key, values![now, now, NEVER, now]].concat()]).await?;
        }
        let detail = json!({"address": address, "after": {"manual": true}});
        audit.commit(tx, AuditAction::UpdateExecutor, AuditObject::app(app.id), detail).await
    }

    /// Removes an executor and what was set for it. One that registers is there again with its next heartbeat. False: there is
    /// none at this address.
    pub async fn remove_executor(self, app: &App, address: &str, now: Millis, actor: &Actor) -> Result<bool> {
        let key = || values![app.name.as_str(), address];
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "DELETE FROM executor WHERE app = ? AND address = ?";
        if self.execute(&tx, text, key()).await? == 0 {
            return Ok(false);
        }
        self.execute(&tx, "DELETE FROM executor_setting WHERE app = ? AND address = ?", key()).await?;
        let detail = json!({"address": address, "after": {"removed": true}});
        audit.commit(tx, AuditAction::UpdateExecutor, AuditObject::app(app.id), detail).await?;
        Ok(true)
    }
}
