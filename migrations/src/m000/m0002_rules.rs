//! What a job says of misfires, overlap and routes besides, and what its schedule has used up.

use sea_orm_migration::prelude::*;

use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        execute_all(db, JOB).await?;
        execute_all(db, RUN).await
    }
}

const RUN: &[&str] = &[
    // Its job's next fire is counted from its end.
    "ALTER TABLE run ADD COLUMN chained BOOLEAN NOT NULL DEFAULT FALSE",
];

/// Existing jobs get the defaults of a new one.
const JOB: &[&str] = &[
    "ALTER TABLE job ADD COLUMN misfire_limit INTEGER NOT NULL DEFAULT 100",
    "ALTER TABLE job ADD COLUMN misfire_window_ms BIGINT NOT NULL DEFAULT 3600000",
    "ALTER TABLE job ADD COLUMN route_labels VARCHAR(255) NOT NULL DEFAULT ''",
    "ALTER TABLE job ADD COLUMN overlap VARCHAR(32) NOT NULL DEFAULT 'allow'",
    "ALTER TABLE job ADD COLUMN overlap_queue INTEGER NOT NULL DEFAULT 10",
    // Seconds within the schedule's spread.
    "ALTER TABLE job ADD COLUMN spread_offset INTEGER NOT NULL DEFAULT 0",
    // NULL: without limit.
    "ALTER TABLE job ADD COLUMN fires_left INTEGER",
    // Fixed delays whose chain has broken are looked for.
    "CREATE INDEX job_kind ON job (schedule_kind, shard)",
];
