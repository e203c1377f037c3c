//! One step of the schema: a name and a list of statements.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::sqlx;
use sea_orm_migration::sea_orm::{DbBackend, RuntimeErr};

use crate::dialect;

/// Statements are written in the words of [`dialect`]. MySQL commits each change of a table by itself, so a step that was interrupted
/// there is repeated from its first statement: statements that change rows must have no effect the second time.
#[derive(Clone, Copy)]
pub struct Step {
    pub name: &'static str,
    pub statements: &'static [&'static [&'static str]],
}

impl MigrationName for Step {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Step {
    /// All or nothing where the database can do that: SQLite and PostgreSQL.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let backend = db.get_database_backend();
        let statements = self.statements.concat();
        for text in statements.iter().filter_map(|statement| dialect::write(statement, backend)) {
            if let Err(error) = db.execute_unprepared(&text).await
                && !(backend == DbBackend::MySql && is_done_already(&error))
            {
                return Err(error);
            }
        }
        Ok(())
    }
}

/// MySQL's numbers for a table, a column and an index that exist.
fn is_done_already(error: &DbErr) -> bool {
    let DbErr::Exec(RuntimeErr::SqlxError(error)) = error else { return false };
    let sqlx::Error::Database(error) = &**error else { return false };
    let number = error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>().map(|error| error.number());
    matches!(number, Some(1050 | 1060 | 1061))
}
