//! What follows from a run: retries in their own time, children, alarms; and kills that are asked for and agreed to.

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
    // Existing jobs keep what all had before: 5 s, doubled each time, at most 5 min.
    "ALTER TABLE job ADD COLUMN retry_delay VARCHAR(1024) NOT NULL DEFAULT 'exponential 5 300'",
    // The job has children: copied to each run, so that the end of any other run need not look for some.
    "ALTER TABLE job ADD COLUMN parent BOOLEAN NOT NULL DEFAULT FALSE",
    "ALTER TABLE run ADD COLUMN parent BOOLEAN NOT NULL DEFAULT FALSE",
    "CREATE TABLE job_child (job_id BIGINT NOT NULL, position INTEGER NOT NULL, child_id BIGINT NOT NULL, \
     PRIMARY KEY (job_id, position)){table}",
    // A change of children locks this row: two changes at once could close a cycle.
    "INSERT INTO setting (name, value) VALUES ('children', '')",
    "CREATE INDEX job_child_child ON job_child (child_id)",
    // The executor has accepted the kill.
    "ALTER TABLE run ADD COLUMN kill_agreed_at BIGINT",
    "CREATE INDEX alarm_created ON alarm (created_at, id)",
];
