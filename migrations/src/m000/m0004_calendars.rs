//! Calendars in versions, and which version each job uses.

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
        execute_all(manager.get_connection(), CALENDARS).await
    }
}

const CALENDARS: &[&str] = &[
    "CREATE TABLE calendar (id {id}, name VARCHAR(64) NOT NULL, version BIGINT NOT NULL, \
     created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL){table}",
    "CREATE UNIQUE INDEX calendar_name ON calendar (name)",
    // Never changed. definition is the calendar as the API spells it.
    "CREATE TABLE calendar_version (calendar_id BIGINT NOT NULL, version BIGINT NOT NULL, definition {long} NOT NULL, \
     created_at BIGINT NOT NULL, actor VARCHAR(64) NOT NULL, PRIMARY KEY (calendar_id, version)){table}",
    // The version that the job's present revision is planned with; behind the calendar's own until the job is planned anew.
    "CREATE TABLE job_calendar (job_id BIGINT NOT NULL, calendar_id BIGINT NOT NULL, version BIGINT NOT NULL, \
     PRIMARY KEY (job_id, calendar_id)){table}",
    "CREATE INDEX job_calendar_calendar ON job_calendar (calendar_id, version)",
];
