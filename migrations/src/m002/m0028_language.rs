//! The language in which a person reads the console.

use sea_orm_migration::prelude::*;

use crate::addition;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// NULL: the language that the browser asks for.
const COLUMNS: &[(&str, &str, &str)] = &[("account", "language", "VARCHAR(8)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::columns(manager, COLUMNS).await
    }
}
