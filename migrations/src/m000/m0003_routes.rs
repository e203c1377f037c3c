//! Weights and labels of executors, where sticky jobs are, and how each run's executor was chosen.

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
    // What the executor says of itself with each heartbeat; NULL: nothing.
    "ALTER TABLE executor ADD COLUMN weight INTEGER",
    "ALTER TABLE executor ADD COLUMN labels VARCHAR(255)",
    // What an operator has set, which wins; it outlives the registration. NULL: what the executor says.
    "CREATE TABLE executor_setting (app VARCHAR(64) NOT NULL, address VARCHAR(255) NOT NULL, weight INTEGER, \
     labels VARCHAR(255), updated_at BIGINT NOT NULL, PRIMARY KEY (app, address)){table}",
    // Where the runs of a job with the route `sticky` go; written when that changes.
    "CREATE TABLE sticky (job_id {id}, address VARCHAR(255) NOT NULL, chosen_at BIGINT NOT NULL){table}",
    // The executors that a run could have gone to. The id is a digest of the list, so that no query is needed to find it.
    "CREATE TABLE candidate_set (id {id}, addresses {long} NOT NULL){table}",
    // NULL: not marked yet, or marked before this step.
    "ALTER TABLE run ADD COLUMN candidates_id BIGINT",
    "ALTER TABLE run ADD COLUMN route_code SMALLINT",
    // Details of the routing: answers to probes, executors that were passed over, requests that were not written.
    "CREATE TABLE run_choice (run_id {id}, detail {long} NOT NULL){table}",
];
