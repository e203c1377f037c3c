//! Entries of the audit.

use carillon_store::audit::list::AuditRow;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::time::Time;
use super::words;

/// What was done, or refused
#[derive(Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub struct AuditView {
    /// Its place in the list: `after` takes it
    #[schema(examples("1751641200007-42"))]
    key: String,
    /// Its number; numbers of several nodes are not in the order of time
    #[schema(minimum = 1)]
    id: i64,
    at: Time,
    /// The account's name, or what acted without an account: `cli`, `api-token`, `executor`, `engine`, `setup`, `unknown`
    actor: String,
    /// The account
    #[schema(minimum = 1)]
    account_id: Option<i64>,
    /// The name of the personal token that stood for the account
    token: Option<String>,
    /// The address that the request came from; empty: from the machine itself
    source: String,
    #[schema(value_type = words::AuditAction)]
    action: String,
    #[schema(value_type = words::AuditObjectKind)]
    object: String,
    /// The object's number; 0 where it has none
    #[schema(minimum = 0)]
    object_id: i64,
    /// What the object is called now; null: it is gone, or has no name
    object_name: Option<String>,
    /// The app of the object
    app: Option<String>,
    /// The id that the answer and the lines of the log carry
    request_id: Option<String>,
    /// The members that were changed or deleted, as they were
    #[schema(value_type = Option<Object>)]
    before: Option<Value>,
    /// The members that were changed or made, as they are since
    #[schema(value_type = Option<Object>)]
    after: Option<Value>,
    /// What else belongs to the action
    #[schema(value_type = Object)]
    detail: Value,
}

impl From<AuditRow> for AuditView {
    fn from(row: AuditRow) -> Self {
        let key = row.key().to_string();
        let mut detail: serde_json::Map<String, Value> = serde_json::from_str(&row.detail).unwrap_or_default();
        Self {
            key,
            id: row.id,
            at: Time(row.at),
            actor: row.actor,
            account_id: row.actor_id,
            token: row.token,
            source: row.source,
            action: row.action,
            object: row.object,
            object_id: row.object_id,
            object_name: row.object_name,
            app: row.app,
            request_id: row.request_id,
            before: detail.remove("before"),
            after: detail.remove("after"),
            detail: detail.into(),
        }
    }
}

impl AuditView {
    /// The names of [`Self::cells`].
    pub const COLUMNS: [&str; 16] = [
        "key",
        "id",
        "at",
        "actor",
        "account_id",
        "token",
        "source",
        "action",
        "object",
        "object_id",
        "object_name",
        "app",
        "request_id",
        "before",
        "after",
        "detail",
    ];

    /// As the cells of a table.
    pub fn cells(self) -> [String; 16] {
        let members = serde_json::to_value(self).unwrap_or_default();
        Self::COLUMNS.map(|name| match &members[name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }
}
