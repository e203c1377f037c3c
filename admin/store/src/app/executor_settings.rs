//! What operators set of executors, by app and address: it wins over what they say of themselves, and outlives their
//! registrations.

use carillon_scheduler::{AuditAction, Millis};
use serde_json::json;

use crate::app::apps::App;
use crate::app::executors::ExecutorSettings;
use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject, difference};
use crate::db::ids;
use crate::db::sql::retry;
use crate::error::Result;
use crate::store::Store;

impl Store {
    /// Sets both; None of one means what the executor says. Nothing set at all leaves no row.
    pub async fn set_executor_settings(
        &self,
        app: &App,
        address: &str,
        traits: &ExecutorSettings,
        now: Millis,
        actor: &Actor,
    ) -> Result<()> {
        let id = self.take_id(&ids::ROW).await?;
        retry::on_race(|| self.try_set_settings(app, address, traits, now, (actor, id))).await
    }

    async fn try_set_settings(
        &self,
        app: &App,
        address: &str,
        traits: &ExecutorSettings,
        now: Millis,
        (actor, audit_id): (&Actor, i64),
    ) -> Result<()> {
        let key = || values![app.name.as_str(), address];
        let tx = self.begin_change().await?;
        let text = "SELECT weight, labels FROM executor_setting WHERE app = ? AND address = ?{for_update}";
        let old: ExecutorSettings = self.one(&tx, text, key()).await?.unwrap_or_default();
        if old == *traits {
            return Ok(());
        }
        let text = "DELETE FROM executor_setting WHERE app = ? AND address = ?";
        self.execute(&tx, text, key()).await?;
        if *traits != ExecutorSettings::default() {
            let row = [key(), values![traits.weight, traits.labels.clone(), now]].concat();
            self.insert_rows(&tx, "executor_setting", "app, address, weight, labels, updated_at", vec![row]).await?;
        }
        let object = |traits: &ExecutorSettings| json!({"weight": traits.weight, "labels": traits.labels});
        let mut detail = difference(&object(&old), &object(traits));
        detail["address"] = address.into();
        let entry = AuditEntry::new(actor, now, AuditAction::UpdateExecutor, AuditObject::app(app.id), detail);
        self.audit(&tx, vec![entry], &[audit_id]).await?;
        tx.commit().await?;
        Ok(())
    }
}
