//! Accounts of an OpenID provider, the second factor of an account, and sign-ins that have begun.

use sea_orm_migration::prelude::*;

use crate::addition;
use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

const COLUMNS: &[(&str, &str, &str)] = &[
    // The hash of issuer and subject. NULL: the account signs in with a password.
    ("account", "identity_hash", "VARCHAR(64)"),
    ("account", "issuer", "VARCHAR(255)"),
    // Encrypted.
    ("account", "totp_secret", "VARCHAR(255)"),
    // Since when a code is asked for. NULL beside a secret: it was shown, and no code of it has been sent yet.
    ("account", "totp_since", "BIGINT"),
    // The time step of the last code that was accepted.
    ("account", "totp_step", "BIGINT"),
];
const TABLES: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS recovery_code (account_id BIGINT NOT NULL, code_hash VARCHAR(64) NOT NULL, \
     PRIMARY KEY (account_id, code_hash)){clustered}",
    "CREATE TABLE IF NOT EXISTS sign_in_step (id_hash VARCHAR(64) NOT NULL, kind VARCHAR(16) NOT NULL, detail {long} NOT NULL, \
     source VARCHAR(64) NOT NULL, expires_at BIGINT NOT NULL, PRIMARY KEY (id_hash)){clustered}",
];
const IDENTITY: &str = "CREATE UNIQUE INDEX account_identity ON account (identity_hash)";
const INDEXES: &[(&str, &str, &str)] = &[
    ("sign_in_step", "sign_in_step_source", "(source, expires_at)"),
    ("sign_in_step", "sign_in_step_end", "(expires_at)"),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::columns(manager, COLUMNS).await?;
        execute_all(manager.get_connection(), TABLES).await?;
        if !manager.has_index("account", "account_identity").await? {
            execute_all(manager.get_connection(), &[IDENTITY]).await?;
        }
        addition::indexes(manager, INDEXES).await
    }
}
