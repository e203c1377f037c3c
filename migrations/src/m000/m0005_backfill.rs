//! Backfills: runs for past instants, released at a bounded pace.

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
        execute_all(manager.get_connection(), STEPS).await
    }
}

const STEPS: &[&str] = &[
    // passed_at: every instant up to it has its run. skipped: the number that had one already, from an earlier backfill.
    "CREATE TABLE backfill (id {id}, job_id BIGINT NOT NULL, from_at BIGINT NOT NULL, to_at BIGINT NOT NULL, \
     max_concurrent INTEGER NOT NULL, instants INTEGER NOT NULL, released INTEGER NOT NULL, skipped INTEGER NOT NULL, \
     passed_at BIGINT NOT NULL, created_at BIGINT NOT NULL, finished_at BIGINT, cancelled BOOLEAN NOT NULL){table}",
    "CREATE INDEX backfill_job ON backfill (job_id)",
    "CREATE INDEX backfill_finished ON backfill (finished_at)",
    // As the schedule was when it was asked for: later edits change nothing. Gone when it has finished.
    "CREATE TABLE backfill_instant (backfill_id BIGINT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (backfill_id, at)){clustered}",
];
