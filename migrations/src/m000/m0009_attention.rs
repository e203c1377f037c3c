//! What needs attention: runs that were not sent in time, and alarms that are not resolved.

use sea_orm_migration::prelude::*;

use crate::addition;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Table, column, and what it is.
const COLUMNS: &[(&str, &str, &str)] = &[
    // When it had waited for too long.
    ("run", "flagged_at", "BIGINT"),
    // 0: as the server says.
    ("job", "flag_after_seconds", "INTEGER NOT NULL DEFAULT 0"),
    // 0, and 1 from escalated_at on.
    ("alarm", "level", "SMALLINT NOT NULL DEFAULT 0"),
    // Since when the alarm is open; NULL: it is resolved, or was never open.
    ("alarm", "open_at", "BIGINT"),
    ("alarm", "escalated_at", "BIGINT"),
    ("alarm", "closed_at", "BIGINT"),
];
const INDEXES: &[(&str, &str, &str)] = &[("alarm", "alarm_open", "(open_at)"), ("alarm", "alarm_run", "(run_id)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::columns(manager, COLUMNS).await?;
        addition::indexes(manager, INDEXES).await
    }
}
