//! The audit says which account, token, app and request an entry is about, and is searched by them.

use sea_orm_migration::prelude::*;

use crate::addition;
use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

const COLUMNS: &[(&str, &str, &str)] = &[
    ("audit", "actor_id", "BIGINT"),
    ("audit", "token", "VARCHAR(64)"),
    // The app whose administrators see the entry.
    ("audit", "app_id", "BIGINT"),
    ("audit", "request_id", "VARCHAR(64)"),
];
/// Entries about jobs and runs that are gone stay with the administrators of all apps.
const FILL: &[&str] = &[
    "UPDATE audit SET app_id = (SELECT app_id FROM job WHERE job.id = audit.object_id) WHERE object = 'job' AND app_id IS NULL",
    "UPDATE audit SET app_id = (SELECT app_id FROM run WHERE run.id = audit.object_id) WHERE object = 'run' AND app_id IS NULL",
    "UPDATE audit SET app_id = object_id WHERE object = 'app' AND app_id IS NULL",
];
const INDEXES: &[(&str, &str, &str)] = &[
    ("audit", "audit_app", "(app_id, at, id)"),
    ("audit", "audit_actor", "(actor, at, id)"),
    ("audit", "audit_action", "(action, at, id)"),
    ("audit", "audit_source", "(source, at, id)"),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::columns(manager, COLUMNS).await?;
        execute_all(manager.get_connection(), FILL).await?;
        addition::indexes(manager, INDEXES).await
    }
}
