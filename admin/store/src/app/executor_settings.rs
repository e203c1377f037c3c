//! What operators set of executors, by app and address: it wins over what they say of themselves, and outlives their
//! registrations.

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::FromQueryResult;
use serde_json::{Value, json};

use crate::app::apps::App;
use crate::app::executors::ExecutorSettings;
use crate::audit::actor::Actor;
use crate::audit::change::PendingEntry;
use crate::audit::entry::{AuditObject, difference};
use crate::db::sql::retry;
use crate::error::Result;
use crate::views::AppStore;

/// Everything that is set for one address. Nothing set at all leaves no row.
#[derive(Clone, Debug, Default, PartialEq, Eq, FromQueryResult)]
struct SettingsRow {
    weight: Option<i32>,
    labels: Option<String>,
    draining_since: Option<Millis>,
}

impl SettingsRow {
    fn audited(&self) -> Value {
        json!({"weight": self.weight, "labels": self.labels, "draining": self.draining_since.is_some()})
    }
}

impl AppStore<'_> {
    /// Sets both; None of one means what the executor says.
    pub async fn set_executor_settings(
        self,
        app: &App,
        address: &str,
        settings: &ExecutorSettings,
        now: Millis,
        actor: &Actor,
    ) -> Result<()> {
        let change = |row: SettingsRow| SettingsRow {
            weight: settings.weight,
            labels: settings.labels.clone(),
            draining_since: row.draining_since,
        };
        self.change_settings(app, address, now, actor, change).await
    }

    /// Whether the executor gets no new runs. One that drains already keeps the time since when it does.
    pub async fn set_executor_draining(
        self,
        app: &App,
        address: &str,
        is_draining: bool,
        now: Millis,
        actor: &Actor,
    ) -> Result<()> {
        let since = |row: &SettingsRow| is_draining.then(|| row.draining_since.unwrap_or(now));
        let change = |row: SettingsRow| SettingsRow { draining_since: since(&row), ..row };
        self.change_settings(app, address, now, actor, change).await
    }

    async fn change_settings(
        self,
        app: &App,
        address: &str,
        now: Millis,
        actor: &Actor,
        change: impl Fn(SettingsRow) -> SettingsRow,
    ) -> Result<()> {
        let audit = self.audit().pending_entry(actor, now).await?;
        retry::on_race(|| self.try_change_settings(app, address, audit, &change)).await
    }

    async fn try_change_settings(
        self,
        app: &App,
        address: &str,
        audit: PendingEntry<'_>,
        change: &impl Fn(SettingsRow) -> SettingsRow,
    ) -> Result<()> {
        let key = || values![app.name.as_str(), address];
        let tx = self.begin_change().await?;
        let text =
            "SELECT weight, labels, draining_since FROM executor_setting WHERE app = ? AND address = ?{for_update}";
        let old: SettingsRow = self.one(&tx, text, key()).await?.unwrap_or_default();
        let new = change(old.clone());
        if old == new {
            return Ok(());
        }
        let text = "DELETE FROM executor_setting WHERE app = ? AND address = ?";
        self.execute(&tx, text, key()).await?;
        if new != SettingsRow::default() {
            let columns = "app, address, weight, labels, draining_since, updated_at";
            let row = [key(), values![new.weight, new.labels.clone(), new.draining_since, audit.now]].concat();
            self.insert_rows(&tx, "executor_setting", columns, vec![row]).await?;
        }
        let mut detail = difference(&old.audited(), &new.audited());
        detail["address"] = address.into();
        audit.commit(tx, AuditAction::UpdateExecutor, AuditObject::app(app.id), detail).await
    }
}
