//! Pauses of an app, or of all apps: what its jobs' schedules make due meanwhile is not sent.

use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
use sea_orm::Value;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::sql::rows::ZeroIsNone;
use crate::error::Result;
use crate::views::AppStore;

/// Pauses of one app that are in force or ahead, and those of all apps at once; further ones are refused.
pub const MOST: usize = 50;
/// The same of all of them together.
pub const MOST_TOGETHER: usize = 1_000;
/// All of them count, also those that were made at the same moment as the last one that is allowed.
const READ: usize = 2 * MOST_TOGETHER;

row_struct! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Pause {
        pub id: i64,
        /// None: all apps.
        pub app_id: Option<i64> as ZeroIsNone,
        /// The name of the app.
        pub app: Option<String>,
        /// Why, for people.
        pub note: String,
        /// Name of the account that made it.
        pub author: String,
        pub starts_at: Millis,
        /// None: it lasts until it is ended.
        pub ends_at: Option<Millis>,
        pub created_at: Millis,
    }
}

impl Pause {
    pub fn is_in_force(&self, now: Millis) -> bool {
        self.starts_at <= now && self.ends_at.is_none_or(|end| now < end)
    }

    pub fn concerns(&self, app_id: i64) -> bool {
        self.app_id.is_none_or(|own| own == app_id)
    }
}

const SELECT: &str = "SELECT p.id, p.app_id, app.name AS app, p.note, p.author, p.starts_at, p.ends_at, p.created_at \
     FROM app_pause AS p LEFT JOIN app ON app.id = p.app_id";

/// The app, or all of them.
pub(super) fn audited(app_id: Option<i64>) -> AuditObject {
    app_id.map_or(AuditObject::new(AuditObjectKind::Cluster, 0), AuditObject::app)
}

impl AppStore<'_> {
    /// Pauses that are in force at this moment or later, in the order of their starts. For the engine.
    pub async fn pauses_from(self, now: Millis) -> Result<Vec<Pause>> {
        let text = format!("{SELECT} WHERE p.ends_at IS NULL OR p.ends_at > ? ORDER BY p.starts_at, p.id LIMIT {READ}");
        self.all(&self.engine_reads, &text, values![now]).await
    }

    pub async fn pause(self, id: i64) -> Result<Option<Pause>> {
        let text = format!("{SELECT} WHERE p.id = ?");
        self.one(&self.read, &text, values![id]).await
    }

    /// The caller has checked the note and the times; `pause.id` is ignored.
    ///
    /// # Errors
    /// `Missing`: the app is deleted.
    pub async fn create_pause(self, pause: Pause, actor: &Actor) -> Result<Pause> {
        let id = self.take_id(&ids::ROW).await?;
        let pause = Pause { id, ..pause };
        let Pause { note, author, starts_at, ends_at, created_at, .. } = pause.clone();
        let app_id = pause.app_id.unwrap_or(0);
        let row = named![id, app_id, note, author, starts_at, ends_at, created_at];
        let detail =
            json!({"after": {"pause": pause.id, "note": pause.note, "from": pause.starts_at, "until": pause.ends_at}});
        let (tx, audit) = self.audit().begin_audited(actor, created_at).await?;
        if let Some(app_id) = pause.app_id {
            self.hold_app(&tx, app_id).await?;
        }
        self.insert_row(&tx, "app_pause", row).await?;
        audit.commit(tx, AuditAction::Pause, audited(pause.app_id), detail).await?;
        Ok(pause)
    }

    /// Ends a pause now; one that is ahead is given up. Answers false, and changes nothing, if it has ended.
    pub async fn end_pause(self, pause: &Pause, now: Millis, actor: &Actor) -> Result<bool> {
        let text = "UPDATE app_pause SET ends_at = ? WHERE id = ? AND (ends_at IS NULL OR ends_at > ?)";
        let detail =
            json!({"before": {"pause": pause.id, "note": pause.note, "until": pause.ends_at}, "after": {"until": now}});
        self.change_pause(pause.app_id, (text, values![now, pause.id, now]), detail, now, actor).await
    }

    /// Changes a row of a pause or of a maintenance window. False: the statement finds no such row.
    pub(super) async fn change_pause(
        self,
        app_id: Option<i64>,
        (text, values): (&str, Vec<Value>),
        detail: serde_json::Value,
        now: Millis,
        actor: &Actor,
    ) -> Result<bool> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        if self.execute(&tx, text, values).await? == 0 {
            return Ok(false);
        }
        audit.commit(tx, AuditAction::Resume, audited(app_id), detail).await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_in_force_from_its_start_to_before_its_end() {
        let pause = |ends_at| Pause {
            id: 1,
            app_id: Some(7),
            app: None,
            note: String::new(),
            author: String::new(),
            starts_at: 10,
            ends_at,
            created_at: 5,
        };
        let at = |ends_at| [9, 10, 19, 20].map(|now| pause(ends_at).is_in_force(now));
        assert_eq!(at(Some(20)), [false, true, true, false]);
        assert_eq!(at(None), [false, true, true, true]);
        assert!(pause(None).concerns(7) && !pause(None).concerns(8));
        assert!(Pause { app_id: None, ..pause(None) }.concerns(8));
    }
}
