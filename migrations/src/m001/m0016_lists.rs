//! Lists and counts of paused jobs, and lists of alarms, each by an index of its own.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::addition;

#[derive(DeriveMigrationName)]
pub struct Migration;

const ALARMS: &[(&str, &str, &str)] =
    &[("alarm", "alarm_job", "(job_id, created_at, id)"), ("alarm", "alarm_kind", "(kind, created_at, id)")];
/// Entries of few rows: an edit of any other job and an alarm that is not escalated cost nothing.
const PARTIAL: &[(&str, &str, &str)] = &[
    ("job", "job_paused", "(id) WHERE enabled = FALSE"),
    ("job", "job_stopped", "(updated_at) WHERE paused_reason IS NOT NULL"),
    ("alarm", "alarm_escalated", "(created_at, id) WHERE level > 0"),
];
/// MySQL has no partial indexes.
const WHOLE: &[(&str, &str, &str)] = &[
    ("job", "job_paused", "(enabled)"),
    ("job", "job_stopped", "(paused_reason(16))"),
    ("alarm", "alarm_escalated", "(level, created_at, id)"),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::indexes(manager, ALARMS).await?;
        let others = match manager.get_connection().get_database_backend() {
            DbBackend::MySql => WHOLE,
            _ => PARTIAL,
        };
        addition::indexes(manager, others).await
    }
}
