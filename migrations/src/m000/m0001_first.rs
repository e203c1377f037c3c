//! The first schema: cluster, jobs, runs, executors, accounts.

use sea_orm_migration::prelude::*;

use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    /// All or nothing where the database can: SQLite and PostgreSQL. MySQL commits each definition by itself.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        execute_all(db, CLUSTER).await?;
        execute_all(db, JOBS).await?;
        execute_all(db, RUNS).await?;
        execute_all(db, PEOPLE).await
    }
}

const CLUSTER: &[&str] = &[
    "CREATE TABLE setting (name VARCHAR(64) NOT NULL PRIMARY KEY, value VARCHAR(255) NOT NULL){table}",
    "CREATE TABLE node (id VARCHAR(64) NOT NULL PRIMARY KEY, address VARCHAR(255) NOT NULL, version VARCHAR(32) NOT NULL, \
     seen_at BIGINT NOT NULL){table}",
    "CREATE TABLE shard_lease (shard INTEGER NOT NULL PRIMARY KEY, epoch BIGINT NOT NULL, owner VARCHAR(64) NOT NULL, \
     expires_at BIGINT NOT NULL){table}",
    // Each node takes ids in blocks: no clock, no auto-increment, known before the insert.
    "CREATE TABLE id_block (name VARCHAR(32) NOT NULL PRIMARY KEY, next BIGINT NOT NULL){table}",
];

const JOBS: &[&str] = &[
    "CREATE TABLE app (id {id}, name VARCHAR(64) NOT NULL, title VARCHAR(64) NOT NULL, created_at BIGINT NOT NULL){table}",
    "CREATE UNIQUE INDEX app_name ON app (name)",
    // schedule_text is the schedule as the API spells it; resume_from_at is the cursor of a job that the engine paused.
    "CREATE TABLE job (id {id}, app_id BIGINT NOT NULL, shard INTEGER NOT NULL, name VARCHAR(64) NOT NULL, \
     handler VARCHAR(255) NOT NULL, schedule_kind VARCHAR(32) NOT NULL, schedule_text {long} NOT NULL, anchor_at BIGINT NOT NULL, \
     catch_up VARCHAR(32) NOT NULL, misfire VARCHAR(32) NOT NULL, misfire_threshold_ms BIGINT NOT NULL, \
     route VARCHAR(32) NOT NULL, block VARCHAR(32) NOT NULL, timeout_seconds INTEGER NOT NULL, retries INTEGER NOT NULL, \
     enabled BOOLEAN NOT NULL, paused_reason VARCHAR(500), resume_from_at BIGINT, revision BIGINT NOT NULL, \
     created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL){table}",
    "CREATE INDEX job_app ON job (app_id)",
    "CREATE TABLE job_params (job_id {id}, params {long} NOT NULL){table}",
    // One row for each enabled job that fires again, and nothing that a scan does not need.
    "CREATE TABLE job_clock (shard INTEGER NOT NULL, next_fire_at BIGINT NOT NULL, job_id BIGINT NOT NULL, \
     revision BIGINT NOT NULL, PRIMARY KEY (shard, next_fire_at, job_id)){clustered}",
    "CREATE TABLE misfire (job_id BIGINT NOT NULL, from_at BIGINT NOT NULL, to_at BIGINT NOT NULL, count INTEGER NOT NULL, \
     policy VARCHAR(32) NOT NULL, reason VARCHAR(32) NOT NULL, epoch BIGINT NOT NULL, PRIMARY KEY (job_id, from_at)){table}",
    "CREATE INDEX misfire_from ON misfire (from_at)",
];

const RUNS: &[&str] = &[
    "CREATE TABLE run (id {id}, job_id BIGINT NOT NULL, app_id BIGINT NOT NULL, shard INTEGER NOT NULL, cause SMALLINT NOT NULL, \
     fire_no BIGINT NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL, attempt INTEGER NOT NULL, \
     scheduled_at BIGINT NOT NULL, due_at BIGINT NOT NULL, state SMALLINT NOT NULL, epoch BIGINT NOT NULL, \
     owner VARCHAR(64), mark_token BIGINT, marked_at BIGINT, sends INTEGER NOT NULL, address VARCHAR(255), boot_id VARCHAR(64), \
     sent_at BIGINT, reason VARCHAR(64), result_code INTEGER, result_msg {long}, kill_asked_at BIGINT, finished_at BIGINT){table}",
    "CREATE UNIQUE INDEX run_fire ON run (fire_no, job_id, cause, part, attempt)",
    "CREATE INDEX run_open ON run (shard, state, epoch, due_at){open}",
    // What was given by hand with a fire: rarely, and it may be large.
    "CREATE TABLE run_input (run_id {id}, params {long}, address VARCHAR(255)){table}",
    // Keyed by the name: executors may register before their app exists.
    "CREATE TABLE executor (app VARCHAR(64) NOT NULL, address VARCHAR(255) NOT NULL, boot_id VARCHAR(64), \
     capabilities VARCHAR(255), registered_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, \
     PRIMARY KEY (app, address)){table}",
    "CREATE TABLE alarm (id {id}, job_id BIGINT NOT NULL, run_id BIGINT, kind VARCHAR(32) NOT NULL, message {long} NOT NULL, \
     created_at BIGINT NOT NULL){table}",
];

const PEOPLE: &[&str] = &[
    "CREATE TABLE account (id {id}, name VARCHAR(64) NOT NULL, password_hash VARCHAR(255) NOT NULL, role VARCHAR(32) NOT NULL, \
     created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL){table}",
    "CREATE UNIQUE INDEX account_name ON account (name)",
    "CREATE TABLE session (id_hash VARCHAR(64) NOT NULL PRIMARY KEY, account_id BIGINT NOT NULL, csrf VARCHAR(64) NOT NULL, \
     created_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, expires_at BIGINT NOT NULL){table}",
    "CREATE INDEX session_account ON session (account_id)",
    "CREATE TABLE login_throttle (subject VARCHAR(255) NOT NULL PRIMARY KEY, failures INTEGER NOT NULL, until_at BIGINT NOT NULL){table}",
    "CREATE TABLE audit (id {id}, at BIGINT NOT NULL, actor VARCHAR(64) NOT NULL, source VARCHAR(64) NOT NULL, \
     action VARCHAR(32) NOT NULL, object VARCHAR(64) NOT NULL, object_id BIGINT NOT NULL, detail {long} NOT NULL){table}",
    // What a repeated request made the first time.
    "CREATE TABLE idempotency (request_key VARCHAR(255) NOT NULL PRIMARY KEY, object_id BIGINT NOT NULL, created_at BIGINT NOT NULL){table}",
];
