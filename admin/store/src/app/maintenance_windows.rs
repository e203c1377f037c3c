//! Recurring times in which an app, or all apps, are paused.

use carillon_scheduler::{AuditAction, Millis};
use serde_json::json;

use crate::app::pauses::audited;
use crate::audit::actor::Actor;
use crate::db::ids;
use crate::db::sql::rows::ZeroIsNone;
use crate::error::Result;
use crate::views::AppStore;

/// Most windows of one app, and most that pause all apps at once.
pub const MOST: usize = 20;
/// Most windows in all.
pub const MOST_TOGETHER: usize = 500;
/// All of them count, also those that were made at the same moment as the last one that is allowed.
const READ: usize = 2 * MOST_TOGETHER;

row_struct! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MaintenanceWindow {
        pub id: i64,
        /// None: all apps.
        pub app_id: Option<i64> as ZeroIsNone,
        /// The name of the app.
        pub app: Option<String>,
        /// Why, for people.
        pub note: String,
        /// Name of the account that made it.
        pub author: String,
        /// A cron expression: it begins at each of its instants.
        pub expression: String,
        /// The zone of the expression.
        pub timezone: String,
        /// How long it lasts each time.
        pub minutes: i32,
        /// The one that began last by then was ended before its time.
        pub ended_at: Option<Millis>,
        pub created_at: Millis,
    }
}

const SELECT: &str = "SELECT w.id, w.app_id, app.name AS app, w.note, w.author, w.expression, w.timezone, w.minutes, \
     w.ended_at, w.created_at FROM maintenance_window AS w LEFT JOIN app ON app.id = w.app_id";

impl AppStore<'_> {
    /// All of them, oldest first. For the engine.
    pub async fn maintenance_windows(self) -> Result<Vec<MaintenanceWindow>> {
        self.all(&self.engine_reads, &format!("{SELECT} ORDER BY w.id LIMIT {READ}"), vec![]).await
    }

    pub async fn maintenance_window(self, id: i64) -> Result<Option<MaintenanceWindow>> {
        self.one(&self.read, &format!("{SELECT} WHERE w.id = ?"), values![id]).await
    }

    /// The caller has checked everything else; `window.id` is ignored.
    ///
    /// # Errors
    /// `Missing`: the app is deleted.
    pub async fn create_maintenance_window(
        self,
        window: MaintenanceWindow,
        actor: &Actor,
    ) -> Result<MaintenanceWindow> {
        let id = self.take_id(&ids::ROW).await?;
        let window = MaintenanceWindow { id, ..window };
        let MaintenanceWindow { note, author, expression, timezone, minutes, ended_at, created_at, .. } =
            window.clone();
        let app_id = window.app_id.unwrap_or(0);
        let row = named![id, app_id, note, author, expression, timezone, minutes, ended_at, created_at];
        let detail = json!({"after": detail(&window)});
        let (tx, audit) = self.audit().begin_audited(actor, window.created_at).await?;
        if let Some(app_id) = window.app_id {
            self.hold_app(&tx, app_id).await?;
        }
        self.insert_row(&tx, "maintenance_window", row).await?;
        audit.commit(tx, AuditAction::Pause, audited(window.app_id), detail).await?;
        Ok(window)
    }

    /// Ends the one that is in force; the next one begins at its time. False: there is no such window.
    pub async fn end_maintenance(self, window: &MaintenanceWindow, now: Millis, actor: &Actor) -> Result<bool> {
        let text = "UPDATE maintenance_window SET ended_at = ? WHERE id = ?";
        let detail = json!({"before": detail(window), "after": {"ended_at": now}});
        self.change_pause(window.app_id, (text, values![now, window.id]), detail, now, actor).await
    }

    /// False: there is no such window.
    pub async fn delete_maintenance_window(
        self,
        window: &MaintenanceWindow,
        now: Millis,
        actor: &Actor,
    ) -> Result<bool> {
        let text = "DELETE FROM maintenance_window WHERE id = ?";
        let detail = json!({"before": detail(window), "after": {"deleted": true}});
        self.change_pause(window.app_id, (text, values![window.id]), detail, now, actor).await
    }
}

fn detail(window: &MaintenanceWindow) -> serde_json::Value {
    json!({
        "window": window.id,
        "note": window.note,
        "expression": window.expression,
        "timezone": window.timezone,
        "minutes": window.minutes,
    })
}
