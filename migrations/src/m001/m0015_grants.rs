//! Roles for each app, personal tokens of the API, one-time links for a new password, and what a list of sessions shows.

use sea_orm_migration::prelude::*;

use crate::addition;
use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

const COLUMNS: &[(&str, &str, &str)] = &[
    // `all:admin`, `all:viewer 7:editor`; NULL grants nothing.
    ("account", "grants", "{long}"),
    ("account", "disabled_at", "BIGINT"),
    ("account", "reset_hash", "VARCHAR(64)"),
    ("account", "reset_expires_at", "BIGINT"),
    ("session", "source", "VARCHAR(64)"),
    ("session", "agent", "VARCHAR(255)"),
];
/// Every account has been an administrator so far.
const FILL: &str = "UPDATE account SET grants = 'all:admin' WHERE grants IS NULL";
const TOKENS: &str = "CREATE TABLE IF NOT EXISTS api_token (id {id}, account_id BIGINT NOT NULL, name VARCHAR(64) NOT NULL, \
     token_hash VARCHAR(64) NOT NULL UNIQUE, grants {long} NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, \
     used_at BIGINT, used_from VARCHAR(64)){table}";
const INDEXES: &[(&str, &str, &str)] = &[("api_token", "api_token_account", "(account_id)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::columns(manager, COLUMNS).await?;
        execute_all(manager.get_connection(), &[FILL, TOKENS]).await?;
        addition::indexes(manager, INDEXES).await
    }
}
