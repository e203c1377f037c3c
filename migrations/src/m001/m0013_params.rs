//! The parameters that a job had under its earlier revisions: a run names the revision it was sent with.

use sea_orm_migration::prelude::*;

use crate::dialect::write;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// `revision`: the last one with these parameters. `runs_to`: no run with a greater id was sent with them.
const TABLE: &str = "CREATE TABLE job_params_history (job_id BIGINT NOT NULL, revision BIGINT NOT NULL, params {long} NOT NULL, \
     runs_to BIGINT NOT NULL, PRIMARY KEY (job_id, revision)){table}";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    /// MySQL ends a transaction with each change of a table: one that is there was made by a step that was cut off.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.has_table("job_params_history").await? {
            return Ok(());
        }
        let db = manager.get_connection();
        db.execute_unprepared(&write(TABLE, db.get_database_backend())).await?;
        Ok(())
    }
}
