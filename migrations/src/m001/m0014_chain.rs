//! The cursor of a fixed delay is found by its job, and the jobs with a fixed delay of a shard page by page.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::addition;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// The job's id again, in the rows of fixed delays alone: an index of all jobs would cost each claim scattered pages.
const COLUMN: (&str, &str, &str) = ("job_clock", "delayed_job", "BIGINT");
const FILL: &str = "UPDATE job_clock SET delayed_job = job_id \
     WHERE job_id IN (SELECT id FROM job WHERE schedule_kind = 'fixed_delay')";
const CURSOR: (&str, &str, &str) = ("job_clock", "job_clock_delayed", "(delayed_job) WHERE delayed_job IS NOT NULL");
/// MySQL has no partial indexes. The entries without a job follow the order of the table there.
const CURSOR_MYSQL: (&str, &str, &str) = ("job_clock", "job_clock_delayed", "(delayed_job)");
/// `job_kind` of the other databases ends with the job's id already.
const JOBS_POSTGRES: (&str, &str, &str) = ("job", "job_delayed", "(shard, id) WHERE schedule_kind = 'fixed_delay'");

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        addition::columns(manager, &[COLUMN]).await?;
        db.execute_unprepared(FILL).await?;
        let indexes: &[_] = match db.get_database_backend() {
            DbBackend::MySql => &[CURSOR_MYSQL],
            DbBackend::Postgres => &[CURSOR, JOBS_POSTGRES],
            _ => &[CURSOR],
        };
        addition::indexes(manager, indexes).await
    }
}
