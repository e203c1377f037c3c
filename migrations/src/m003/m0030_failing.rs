//! Jobs whose last run failed, however long ago.

use sea_orm_migration::prelude::*;

use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// `run_id`: the last run that failed. `failures`: failed runs since the last success.
const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS report_failing (job_id {id}, run_id BIGINT NOT NULL, failures BIGINT NOT NULL){table}";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager.get_connection(), &[TABLE]).await
    }
}
