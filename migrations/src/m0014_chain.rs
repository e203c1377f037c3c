//! The cursor of a fixed delay is found by its job, and the jobs with a fixed delay of a shard page by page.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// The job's id again, in the rows of fixed delays alone: an index of all jobs would cost each claim scattered pages.
const COLUMN: &str = "ALTER TABLE job_clock ADD COLUMN delayed_job BIGINT";
const FILL: &str = "UPDATE job_clock SET delayed_job = job_id \
     WHERE job_id IN (SELECT id FROM job WHERE schedule_kind = 'fixed_delay')";
const CURSOR: &str = "CREATE INDEX job_clock_delayed ON job_clock (delayed_job)";
/// `job_kind` of the other databases ends with the job's id already.
const JOBS: &str =
    "CREATE INDEX job_delayed ON job (shard, id) WHERE schedule_kind = 'fixed_delay'";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    /// MySQL ends a transaction with each change of a table: what is there already was made by a step that was cut off.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let backend = db.get_database_backend();
        if !manager.has_column("job_clock", "delayed_job").await? {
            db.execute_unprepared(COLUMN).await?;
        }
        db.execute_unprepared(FILL).await?;
        if !manager.has_index("job_clock", "job_clock_delayed").await? {
            // MySQL has no partial indexes. The entries without a job follow the order of the table there.
            let partial = match backend {
                DbBackend::MySql => "",
                _ => " WHERE delayed_job IS NOT NULL",
            };
            db.execute_unprepared(&format!("{CURSOR}{partial}")).await?;
        }
        if backend == DbBackend::Postgres && !manager.has_index("job", "job_delayed").await? {
            db.execute_unprepared(JOBS).await?;
        }
        Ok(())
    }
}
