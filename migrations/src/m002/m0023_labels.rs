//! What people note of a job: its description, owner and tags, why it is paused, and how often it has failed in a row. All of it
//! beside the job's row, which each claim reads.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::addition;
use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// After this many failures in a row the engine pauses the job; 0: never.
const COLUMNS: &[(&str, &str, &str)] = &[("job", "pause_after_failures", "INTEGER NOT NULL DEFAULT 0")];

const TABLES: &[&str] = &[
    // Only of jobs that have one of them. tags: as a list is read; a tag is looked up in job_tag.
    "CREATE TABLE IF NOT EXISTS job_label (job_id {id}, description VARCHAR(1000) NOT NULL, owner VARCHAR(100) NOT NULL, \
     tags VARCHAR(400) NOT NULL){table}",
    "CREATE TABLE IF NOT EXISTS job_tag (tag VARCHAR(32) NOT NULL, job_id BIGINT NOT NULL, PRIMARY KEY (tag, job_id)){clustered}",
    // resume_from_at: the first instant that the end of the pause, if it comes by itself, makes up for.
    "CREATE TABLE IF NOT EXISTS job_pause (job_id {id}, note VARCHAR(500) NOT NULL, author VARCHAR(64) NOT NULL, \
     paused_at BIGINT NOT NULL, ends_at BIGINT, resume_from_at BIGINT){table}",
    // Only of jobs that are to be paused after failures, and whose last fire failed.
    "CREATE TABLE IF NOT EXISTS job_failure (job_id {id}, failures INTEGER NOT NULL, fire_no BIGINT NOT NULL){table}",
];

const INDEXES: &[(&str, &str, &str)] = &[
    ("job", "job_name", "(name, id)"),
    ("job_label", "job_label_owner", "(owner)"),
    ("job_tag", "job_tag_job", "(job_id)"),
];
const PAUSE_END: [(&str, &str, &str); 1] = [("job_pause", "job_pause_end", "(ends_at) WHERE ends_at IS NOT NULL")];
/// MySQL has no partial indexes.
const WHOLE_PAUSE_END: [(&str, &str, &str); 1] = [("job_pause", "job_pause_end", "(ends_at)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::columns(manager, COLUMNS).await?;
        execute_all(manager.get_connection(), TABLES).await?;
        addition::indexes(manager, INDEXES).await?;
        let end = match manager.get_connection().get_database_backend() {
            DbBackend::MySql => WHOLE_PAUSE_END,
            _ => PAUSE_END,
        };
        addition::indexes(manager, &end).await
    }
}
