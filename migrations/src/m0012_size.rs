//! What is deleted by its age is found by its age.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

const INDEXES: &[(&str, &str, &str)] = &[
    ("alarm", "alarm_created", "created_at"),
    ("audit", "audit_at", "at"),
    ("idempotency", "idempotency_created", "created_at"),
    ("session", "session_expires", "expires_at"),
    ("login_throttle", "login_throttle_until", "until_at"),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    /// MySQL ends a transaction with each change of a table: an index that exists was made by a step that was cut off.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for (table, index, column) in INDEXES {
            if !manager.has_index(table, index).await? {
                db.execute_unprepared(&format!("CREATE INDEX {index} ON {table} ({column})"))
                    .await?;
            }
        }
        Ok(())
    }
}
