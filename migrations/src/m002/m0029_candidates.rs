//! When a set of candidates was last used, so that those that no run names any more can be deleted.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, Statement};

use crate::addition;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Milliseconds since 1970 by the clock of the database.
fn now(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "SELECT CAST(extract(epoch FROM now()) * 1000 AS BIGINT)",
        DbBackend::MySql => "SELECT CAST(UNIX_TIMESTAMP() * 1000 AS SIGNED)",
        _ => "SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000",
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    /// Sets that are there, and those that a node of an earlier version still adds, count as used now.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let backend = db.get_database_backend();
        let row = db.query_one_raw(Statement::from_string(backend, now(backend))).await?;
        let now: i64 = match row {
            Some(row) => row.try_get_by_index(0)?,
            None => return Err(DbErr::Migration("the database does not tell the time".into())),
        };
        let what = format!("BIGINT NOT NULL DEFAULT {now}");
        addition::columns(manager, &[("candidate_set", "used_at", &what)]).await
    }
}
