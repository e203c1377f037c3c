//! How often the credentials of an account have changed, for which session and since when a secret of a second factor was shown, and
//! when the OpenID provider last vouched for an account.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use crate::addition;

#[derive(DeriveMigrationName)]
pub struct Migration;

const COLUMNS: &[(&str, &str, &str)] = &[
    // A sign-in that has begun counts only while this is as it was when it began.
    ("account", "credentials", "BIGINT NOT NULL DEFAULT 0"),
    // NULL beside a secret that does not count: an earlier version has shown it, and nobody can confirm it.
    ("account", "totp_proposed_at", "BIGINT"),
    ("account", "totp_session", "VARCHAR(64)"),
    // NULL: it signs in with a password, or a node of an earlier version has made it.
    ("account", "provided_at", "BIGINT"),
];

/// Milliseconds since 1970 by the clock of the database.
fn now(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "CAST(extract(epoch FROM now()) * 1000 AS BIGINT)",
        DbBackend::MySql => "CAST(UNIX_TIMESTAMP() * 1000 AS SIGNED)",
        _ => "CAST(strftime('%s', 'now') AS INTEGER) * 1000",
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    /// When people last signed in is not on record: the time of their tokens begins now.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::columns(manager, COLUMNS).await?;
        let db = manager.get_connection();
        let now = now(db.get_database_backend());
        let text = format!("UPDATE account SET provided_at = {now} WHERE issuer IS NOT NULL AND provided_at IS NULL");
        db.execute_unprepared(&text).await?;
        Ok(())
    }
}
