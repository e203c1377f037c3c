//! What a repeated request made the first time. A key is written in the transaction that makes its object: either both
//! are there or neither is.

use carillon_scheduler::Millis;
use sea_orm::ConnectionTrait;

use crate::db::sql::unique_key::UniqueKey;
use crate::error::Result;
use crate::store::Store;

/// The longest key that a client may send, in characters; our prefix still fits into the column.
pub const MAX_KEY_CHARS: usize = 200;

impl Store {
    /// The object that the first request of this kind with this key made.
    pub async fn made_before(&self, kind: &str, key: &str) -> Result<Option<i64>> {
        self.made_before_in(&self.read, kind, key).await
    }

    /// The same inside a transaction.
    pub(crate) async fn made_before_in(&self, db: &impl ConnectionTrait, kind: &str, key: &str) -> Result<Option<i64>> {
        let text = "SELECT object_id FROM idempotency WHERE request_key = ?";
        self.tuple(db, text, values![request_key(kind, key)]).await
    }

    /// Remembers what this request makes. `Error::Taken`: another request with the same key was quicker; roll back
    /// and look again.
    pub(crate) async fn remember(
        &self,
        db: &impl ConnectionTrait,
        kind: &str,
        key: &str,
        object_id: i64,
        now: Millis,
    ) -> Result<()> {
        self.remember_all(db, key, &[(kind.to_owned(), object_id)], now).await
    }

    /// The same for a request that makes several objects, each under a kind of its own.
    pub(crate) async fn remember_all(
        &self,
        db: &impl ConnectionTrait,
        key: &str,
        objects: &[(String, i64)],
        now: Millis,
    ) -> Result<()> {
        let row = |(kind, object_id): &(String, i64)| values![request_key(kind, key), *object_id, now];
        let rows = objects.iter().map(row).collect();
        let inserted = self.insert_rows(db, "idempotency", "request_key, object_id, created_at", rows).await;
        inserted.map_err(|error| error.or_taken(UniqueKey::RequestKey, key))
    }
}

pub(crate) fn request_key(kind: &str, key: &str) -> String {
    format!("{kind}:{key}")
}
