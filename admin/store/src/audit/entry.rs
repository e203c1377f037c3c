//! The one way into the audit table.

use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
use sea_orm::{ConnectionTrait, Value};
use serde::Serialize;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::db::ids;
use crate::db::sql::text::printable;
use crate::error::Result;
use crate::store::Store;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditObject {
    pub kind: AuditObjectKind,
    pub id: i64,
    /// The app whose administrators see the entry; None: only those of all apps do.
    pub app_id: Option<i64>,
}

impl AuditObject {
    pub const fn new(kind: AuditObjectKind, id: i64) -> Self {
        Self { kind, id, app_id: None }
    }

    pub const fn job(id: i64, app_id: i64) -> Self {
        Self { app_id: Some(app_id), ..Self::new(AuditObjectKind::Job, id) }
    }

    pub const fn run(id: i64, app_id: i64) -> Self {
        Self { app_id: Some(app_id), ..Self::new(AuditObjectKind::Run, id) }
    }

    pub const fn app(id: i64) -> Self {
        Self { app_id: Some(id), ..Self::new(AuditObjectKind::App, id) }
    }

    pub const fn executor_token(id: i64, app_id: i64) -> Self {
        Self { app_id: Some(app_id), ..Self::new(AuditObjectKind::ExecutorToken, id) }
    }

    pub const fn account(id: i64) -> Self {
        Self::new(AuditObjectKind::Account, id)
    }

    pub const fn api_token(id: i64) -> Self {
        Self::new(AuditObjectKind::ApiToken, id)
    }
}

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

impl Store {
    /// Writes entries in the transaction of their change. `ids` were taken before it began (`ids::ROW`).
    pub(crate) async fn audit(&self, db: &impl ConnectionTrait, entries: Vec<AuditEntry>, ids: &[i64]) -> Result<()> {
        debug_assert_eq!(entries.len(), ids.len());
        let row = |(AuditEntry(mut row), id): (AuditEntry, &i64)| {
            row[0] = (*id).into();
            row
        };
        self.insert_rows(db, "audit", COLUMNS, entries.into_iter().zip(ids).map(row).collect()).await
    }

    /// Records something that no store method records by itself, such as the outcome of a run that a person sets.
    pub async fn record_audit(
        &self,
        actor: &Actor,
        action: AuditAction,
        object: AuditObject,
        detail: serde_json::Value,
        now: Millis,
    ) -> Result<()> {
        self.record_audit_of_all(actor, action, &[object], &detail, now).await
    }

    /// The same of several objects, with one statement.
    pub async fn record_audit_of_all(
        &self,
        actor: &Actor,
        action: AuditAction,
        objects: &[AuditObject],
        detail: &serde_json::Value,
        now: Millis,
    ) -> Result<()> {
        let ids = self.take_ids(&ids::ROW, objects.len()).await?;
        let entry = |object: &AuditObject| AuditEntry::new(actor, now, action, *object, detail.clone());
        self.audit(&self.changes, objects.iter().map(entry).collect(), &ids).await
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
