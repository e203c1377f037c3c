//! How long things are kept, what is left of them afterwards, and the history of an object by its time.

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
    "CREATE INDEX audit_object ON audit (object, object_id, at)",
    // Of a job, of an app, of all. NULL: as the next wider one says.
    "CREATE TABLE retention (scope VARCHAR(8) NOT NULL, scope_id BIGINT NOT NULL, days INTEGER, failure_days INTEGER, failures INTEGER, \
     runs INTEGER, updated_at BIGINT NOT NULL, PRIMARY KEY (scope, scope_id)){table}",
    // Runs that are gone, by the day (UTC, from 1970-01-01) of their instant.
    "CREATE TABLE run_day (day INTEGER NOT NULL, job_id BIGINT NOT NULL, app_id BIGINT NOT NULL, succeeded BIGINT NOT NULL, \
     failed BIGINT NOT NULL, killed BIGINT NOT NULL, cancelled BIGINT NOT NULL, PRIMARY KEY (day, job_id)){table}",
    // The latest instant of a job's schedule whose record is gone.
    "CREATE TABLE pruned (job_id {id}, runs_to BIGINT NOT NULL, misfires_to BIGINT NOT NULL){table}",
    // Instants whose backfill runs are gone: a further backfill leaves them out all the same.
    "CREATE TABLE backfill_done (job_id BIGINT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (job_id, at)){clustered}",
];
