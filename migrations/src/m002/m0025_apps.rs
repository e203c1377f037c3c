//! Addresses of executors that people enter, executors that get no new runs, former names of apps, and maintenance windows.

use sea_orm_migration::prelude::*;

use crate::addition;
use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

const TABLES: &[&str] = &[
    // A name that an app had: its executors may still register under it.
    "CREATE TABLE IF NOT EXISTS app_alias (name VARCHAR(64) NOT NULL PRIMARY KEY, app_id BIGINT NOT NULL, \
     created_at BIGINT NOT NULL){table}",
    // `app_id` 0: all apps. A window begins at each instant of the cron expression and lasts the same time. Those that
    // began up to `ended_at` are over.
    "CREATE TABLE IF NOT EXISTS maintenance_window (id {id}, app_id BIGINT NOT NULL, note VARCHAR(500) NOT NULL, \
     author VARCHAR(64) NOT NULL, expression VARCHAR(255) NOT NULL, timezone VARCHAR(64) NOT NULL, \
     minutes INTEGER NOT NULL, ended_at BIGINT, created_at BIGINT NOT NULL){table}",
];
const COLUMNS: &[(&str, &str, &str)] = &[
    // When a person entered the address; NULL: it is there because the executor registers.
    ("executor", "manual_since", "BIGINT"),
    // Since when the executor gets no new runs; NULL: it gets them.
    ("executor_setting", "draining_since", "BIGINT"),
];
const INDEXES: &[(&str, &str, &str)] = &[("app_alias", "app_alias_app", "(app_id)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager.get_connection(), TABLES).await?;
        addition::columns(manager, COLUMNS).await?;
        addition::indexes(manager, INDEXES).await
    }
}
