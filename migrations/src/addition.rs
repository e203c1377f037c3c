//! Columns and indexes that are added to tables which exist. MySQL ends a transaction with each change of a table, so a migration
//! that was interrupted there may have added some of them: those are left as they are.

use sea_orm_migration::prelude::*;

use crate::dialect::write;

/// Each is a table, the column, and its type in the words of [`crate::dialect`].
pub async fn columns(manager: &SchemaManager<'_>, columns: &[(&str, &str, &str)]) -> Result<(), DbErr> {
    let db = manager.get_connection();
    for (table, column, what) in columns {
        if !manager.has_column(table, column).await? {
            let text = format!("ALTER TABLE {table} ADD COLUMN {column} {what}");
            db.execute_unprepared(&write(&text, db.get_database_backend())).await?;
        }
    }
    Ok(())
}

/// Each is a table, the index, and its column; a condition may follow the column's parenthesis.
pub async fn indexes(manager: &SchemaManager<'_>, indexes: &[(&str, &str, &str)]) -> Result<(), DbErr> {
    for (table, index, on) in indexes {
        if !manager.has_index(table, index).await? {
            let text = format!("CREATE INDEX {index} ON {table} {on}");
            manager.get_connection().execute_unprepared(&text).await?;
        }
    }
    Ok(())
}
