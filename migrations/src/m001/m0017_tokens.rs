//! Tokens of the executors of one app, by which token each executor registered, and apps that accept their own tokens alone.

use sea_orm_migration::prelude::*;

use crate::addition;
use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// The digest is compared with what executors present; the encrypted token is sent to them.
const TOKENS: &str = "CREATE TABLE IF NOT EXISTS executor_token (id {id}, app_id BIGINT NOT NULL, name VARCHAR(64) NOT NULL, \
     token_hash VARCHAR(64) NOT NULL UNIQUE, sealed VARCHAR(255) NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT, \
     used_at BIGINT, used_from VARCHAR(64)){table}";
const COLUMNS: &[(&str, &str, &str)] = &[
    // NULL: the token of all apps.
    ("executor", "token_id", "BIGINT"),
    ("app", "own_tokens_only", "BOOLEAN NOT NULL DEFAULT FALSE"),
];
const INDEXES: &[(&str, &str, &str)] = &[("executor_token", "executor_token_app", "(app_id)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager.get_connection(), &[TOKENS]).await?;
        addition::columns(manager, COLUMNS).await?;
        addition::indexes(manager, INDEXES).await
    }
}
