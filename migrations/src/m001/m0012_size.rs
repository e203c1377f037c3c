//! What is deleted by its age is found by its age.

use sea_orm_migration::prelude::*;

use crate::addition;

#[derive(DeriveMigrationName)]
pub struct Migration;

const INDEXES: &[(&str, &str, &str)] = &[
    ("alarm", "alarm_created", "(created_at)"),
    ("audit", "audit_at", "(at)"),
    ("idempotency", "idempotency_created", "(created_at)"),
    ("session", "session_expires", "(expires_at)"),
    ("login_throttle", "login_throttle_until", "(until_at)"),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::indexes(manager, INDEXES).await
    }
}
