//! Pauses of apps, or of all of them.

use sea_orm_migration::prelude::*;

use crate::addition;
use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// `app_id` 0: all apps. Without `ends_at` a pause lasts until it is ended.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS app_pause (id {id}, app_id BIGINT NOT NULL, note VARCHAR(500) NOT NULL, \
     author VARCHAR(64) NOT NULL, starts_at BIGINT NOT NULL, ends_at BIGINT, created_at BIGINT NOT NULL){table}";
const INDEXES: &[(&str, &str, &str)] = &[("app_pause", "app_pause_end", "(ends_at)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager.get_connection(), &[TABLE]).await?;
        addition::indexes(manager, INDEXES).await
    }
}
