//! Who changed what: written in the transaction of the change, never changed afterwards.

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::{ConnectionTrait, FromQueryResult, Value};
use serde::Serialize;
use serde_json::json;

use crate::db::ids;
use crate::db::sql::filter::{Conditions, Page, page_and_one};
use crate::error::Result;
use crate::people::grants::{Grants, Role};
use crate::store::Store;

/// Who asks for a change, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// An account's name, or the kind of a token. At most 64 characters are kept.
    pub name: String,
    /// The address that the request came from. At most 64 characters are kept.
    pub source: String,
    /// What it may do.
    pub grants: Grants,
}

impl Actor {
    pub fn new(name: impl Into<String>, source: impl Into<String>, grants: Grants) -> Self {
        Self { name: name.into(), source: source.into(), grants }
    }

    /// May do everything: a setting or the machine itself has said so.
    pub fn unlimited(name: &str, source: impl Into<String>) -> Self {
        Self::new(name, source, Grants::for_all(Role::Admin))
    }

    /// The program itself.
    pub fn engine() -> Self {
        Self::unlimited("carillon", "")
    }
}

/// One line of the audit table.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct AuditEntry {
    pub id: i64,
    pub at: Millis,
    pub actor: String,
    pub source: String,
    /// `create`, `update`, `enable`, …
    pub action: String,
    /// `job`, `app`, …
    pub object: String,
    pub object_id: i64,
    /// JSON: `before` and `after` with the members that differ.
    pub detail: String,
}

impl AuditEntry {
    pub(crate) fn new(
        actor: &Actor,
        at: Millis,
        action: AuditAction,
        (object, object_id): (&str, i64),
        detail: impl Serialize,
    ) -> Self {
        let cut = |text: &str| text.chars().take(64).collect::<String>();
        Self {
            id: 0,
            at,
            actor: cut(&actor.name),
            source: cut(&actor.source),
            action: action.to_string(),
            object: object.to_owned(),
            object_id,
            detail: serde_json::to_string(&detail).unwrap_or_default(),
        }
    }

    /// The values of its columns.
    pub(crate) fn into_row(self, id: i64) -> Vec<Value> {
        values![id, self.at, self.actor, self.source, self.action, self.object, self.object_id, self.detail]
    }
}

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

pub(crate) const COLUMNS: &str = "id, at, actor, source, action, object, object_id, detail";

impl Store {
    /// Writes entries in the transaction of their change. `ids` were taken before it began (`ids::ROW`).
    pub(crate) async fn audit(&self, db: &impl ConnectionTrait, entries: &[AuditEntry], ids: &[i64]) -> Result<()> {
        debug_assert_eq!(entries.len(), ids.len());
        let row = |(entry, id): (&AuditEntry, &i64)| entry.clone().into_row(*id);
        self.insert_rows(db, "audit", COLUMNS, entries.iter().zip(ids).map(row).collect()).await
    }

    /// Records something that no store method records by itself, such as a log-in.
    pub async fn record_audit(
        &self,
        actor: &Actor,
        action: AuditAction,
        object: (&str, i64),
        detail: serde_json::Value,
        now: Millis,
    ) -> Result<()> {
        let id = self.take_id(&ids::ROW).await?;
        let entry = AuditEntry::new(actor, now, action, object, detail);
        self.audit(&self.changes, &[entry], &[id]).await
    }

    /// Newest first; of one object, or of all.
    pub async fn audit_entries(
        &self,
        object: Option<(&str, i64)>,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Page<AuditEntry>> {
        let mut conditions = Conditions::default();
        if let Some((object, id)) = object {
            conditions.add("object = ? AND object_id = ?", [object.into(), id.into()]);
        }
        conditions.add_if("id < ?", after);
        let (filter, mut values) = conditions.finish();
        let (limit, one_more) = page_and_one(limit);
        values.push(one_more);
        let text = format!("SELECT {COLUMNS} FROM audit{filter} ORDER BY id DESC LIMIT ?");
        let entries = self.all(&self.read, &text, values).await?;
        Ok(Page::cut(entries, limit, |entry: &AuditEntry| entry.id))
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
