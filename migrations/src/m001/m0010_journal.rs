//! What a run was sent with: the job's revision whose definition was in its request, and the journal of its executor.

use sea_orm_migration::prelude::*;

use crate::addition;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Table, column, and what it is.
const COLUMNS: &[(&str, &str, &str)] = &[
    // NULL: not marked, or marked by a version that did not note it.
    ("run", "revision", "BIGINT"),
    // NULL: its executor keeps no journal, or has not announced which.
    ("run", "journal_id", "VARCHAR(64)"),
    ("executor", "journal_id", "VARCHAR(64)"),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::columns(manager, COLUMNS).await
    }
}
