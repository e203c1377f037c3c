//! Summaries of runs by day, which outlive the runs.

use sea_orm_migration::prelude::*;

use crate::addition;
use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

const TABLES: &[&str] = &[
    // Of each job, and under `-app_id` of all jobs of an app. Days since 1970-01-01, UTC.
    "CREATE TABLE IF NOT EXISTS report_day (day INTEGER NOT NULL, job_id BIGINT NOT NULL, app_id BIGINT NOT NULL, \
     succeeded BIGINT NOT NULL, failed BIGINT NOT NULL, killed BIGINT NOT NULL, cancelled BIGINT NOT NULL, doubtful BIGINT NOT NULL, \
     times {long} NOT NULL, PRIMARY KEY (day, job_id)){clustered}",
    // Of all jobs of an app. Hours since 1970-01-01.
    "CREATE TABLE IF NOT EXISTS report_hour (hour INTEGER NOT NULL, app_id BIGINT NOT NULL, succeeded BIGINT NOT NULL, \
     failed BIGINT NOT NULL, killed BIGINT NOT NULL, cancelled BIGINT NOT NULL, doubtful BIGINT NOT NULL, \
     PRIMARY KEY (hour, app_id)){clustered}",
    // Runs below the cursor that had not ended when it passed them.
    "CREATE TABLE IF NOT EXISTS report_open (run_id {id}, is_doubtful BOOLEAN NOT NULL){table}",
    // Runs up to this id are in the summaries, or in `report_open`.
    "CREATE TABLE IF NOT EXISTS report_cursor (id {id}, run_id BIGINT NOT NULL, round BIGINT NOT NULL){table}",
];
const INDEXES: &[(&str, &str, &str)] =
    &[("report_day", "report_day_job", "(job_id, day)"), ("report_day", "report_day_app", "(app_id, day)")];
/// Of runs that were deleted before, the counts are known.
const FILL: &[&str] = &[
    "INSERT INTO report_day (day, job_id, app_id, succeeded, failed, killed, cancelled, doubtful, times) \
     SELECT day, job_id, app_id, succeeded, failed, killed, cancelled, 0, '' FROM run_day \
     WHERE NOT EXISTS (SELECT 1 FROM report_cursor)",
    "INSERT INTO report_day (day, job_id, app_id, succeeded, failed, killed, cancelled, doubtful, times) \
     SELECT day, -app_id, app_id, SUM(succeeded), SUM(failed), SUM(killed), SUM(cancelled), 0, '' FROM run_day \
     WHERE NOT EXISTS (SELECT 1 FROM report_cursor) GROUP BY day, app_id",
    "INSERT INTO report_cursor (id, run_id, round) SELECT 1, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM report_cursor)",
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager.get_connection(), TABLES).await?;
        addition::indexes(manager, INDEXES).await?;
        // What an interrupted migration has left of it.
        execute_all(
            manager.get_connection(),
            &["DELETE FROM report_day WHERE NOT EXISTS (SELECT 1 FROM report_cursor)"],
        )
        .await?;
        execute_all(manager.get_connection(), FILL).await
    }
}
