//! What a run was sent with: the job's revision whose definition was in its request, and the journal of its executor.

use sea_orm_migration::prelude::*;

use crate::dialect::write;

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

    /// MySQL ends a transaction with each change of a table: what is there already was made by a step that was cut off.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for (table, column, what) in COLUMNS {
            if !manager.has_column(table, column).await? {
                let text = format!("ALTER TABLE {table} ADD COLUMN {column} {what}");
                db.execute_unprepared(&write(&text, db.get_database_backend()))
                    .await?;
            }
        }
        Ok(())
    }
}
