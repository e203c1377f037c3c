//! The one way into the audit table.

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::{ConnectionTrait, Value};
use serde::Serialize;
use serde_json::json;

use crate::audit::actor::Actor;
pub use crate::audit::object::AuditObject;
use crate::db::ids;
use crate::db::sql::text::printable;
use crate::error::Result;
use crate::views::AuditStore;

/// An entry to be written.
#[derive(Clone, Debug)]
pub(crate) struct AuditEntry(Vec<Value>);

impl AuditEntry {
    /// `detail` has `before` and `after` with the members that differ, and whatever else belongs to the action. It holds no secret.
    pub(crate) fn new(
        actor: &Actor,
        at: Millis,
        action: AuditAction,
        object: AuditObject,
        detail: impl Serialize,
    ) -> Self {
        let cut = |text: &str, most: usize| printable(&text.chars().take(most).collect::<String>());
        let detail = serde_json::to_string(&detail).unwrap_or_default();
        Self(values![
            0i64,
            at,
            cut(&actor.name, 64),
            actor.account_id,
            actor.token.as_deref().map(|name| cut(name, 64)),
            cut(&actor.source, 64),
            action.as_str(),
            object.kind.as_str(),
            object.id,
            object.app_id,
            actor.request_id.as_deref().map(|id| cut(id, 64)),
            detail
        ])
    }
}

const COLUMNS: &str = "id, at, actor, actor_id, token, source, action, object, object_id, app_id, request_id, detail";

/// The members that differ between two JSON objects, with both values.
pub(crate) fn difference(before: &serde_json::Value, after: &serde_json::Value) -> serde_json::Value {
    let (Some(old), Some(new)) = (before.as_object(), after.as_object()) else {
        return json!({"before": before, "after": after});
    };
    let differing = |these: &serde_json::Map<_, _>, those: &serde_json::Map<_, _>| {
        let members = these.iter().filter(|(name, value)| those.get(*name) != Some(value));
        members.map(|(name, value)| (name.clone(), value.clone())).collect::<serde_json::Map<_, _>>()
    };
    json!({"before": differing(old, new), "after": differing(new, old)})
}

impl AuditStore<'_> {
    /// Writes entries in the transaction of their change. `ids` were taken before it began (`ids::ROW`).
    pub(crate) async fn insert(self, db: &impl ConnectionTrait, entries: Vec<AuditEntry>, ids: &[i64]) -> Result<()> {
        debug_assert_eq!(entries.len(), ids.len());
        let row = |(AuditEntry(mut row), id): (AuditEntry, &i64)| {
            row[0] = (*id).into();
            row
        };
        self.insert_rows(db, "audit", COLUMNS, entries.into_iter().zip(ids).map(row).collect()).await
    }

    /// Records something that no store method records by itself, such as a refusal.
    pub async fn record(
        self,
        actor: &Actor,
        action: AuditAction,
        object: AuditObject,
        detail: serde_json::Value,
        now: Millis,
    ) -> Result<()> {
        let id = self.take_id(&ids::ROW).await?;
        self.insert(&self.changes, vec![AuditEntry::new(actor, now, action, object, detail)], &[id]).await
    }

    /// Records a refusal, unless there were too many of this actor, or of all of its kind, within a minute. The next row says how many
    /// were left out before it.
    pub async fn record_refusal(
        self,
        actor: &Actor,
        action: AuditAction,
        object: AuditObject,
        mut detail: serde_json::Value,
        now: Millis,
    ) -> Result<()> {
        let Some(left_out) = self.refusals.admit(action, actor, now) else {
            return Ok(());
        };
        if left_out > 0 {
            detail["left_out"] = left_out.into();
        }
        self.record(actor, action, object, detail, now).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_kept() {
        let detail = difference(&json!({"a": 1, "b": 2}), &json!({"a": 1, "b": 3}));
        assert_eq!(detail, json!({"before": {"b": 2}, "after": {"b": 3}}));
    }
}
