//! Writes one text of a table definition in the words of each database.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, DbErr};

/// What differs: the word in the text, then SQLite, PostgreSQL, MySQL.
const WORDS: [(&str, [&str; 3]); 4] = [
    // A rowid alias on SQLite, so that the table itself is ordered by the key.
    ("{id}", ["INTEGER PRIMARY KEY", "BIGINT PRIMARY KEY", "BIGINT PRIMARY KEY"]),
    ("{long}", ["TEXT", "TEXT", "MEDIUMTEXT"]),
    ("{clustered}", [" WITHOUT ROWID", "", " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"]),
    ("{table}", ["", "", " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"]),
];

/// The WHERE of a partial index, which MySQL does not know: it indexes all rows.
const OPEN: (&str, [&str; 3]) = ("{open}", [" WHERE state < 9", " WHERE state < 9", ""]);

pub fn write(text: &str, backend: DbBackend) -> String {
    let column = match backend {
        DbBackend::Postgres => 1,
        DbBackend::MySql => 2,
        _ => 0,
    };
    WORDS.iter().chain([&OPEN]).fold(text.to_owned(), |text, (word, by)| text.replace(word, by[column]))
}

pub async fn execute_all(db: &impl ConnectionTrait, statements: &[&str]) -> Result<(), DbErr> {
    for text in statements {
        db.execute_unprepared(&write(text, db.get_database_backend())).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_gets_its_own_words() {
        let text = "CREATE TABLE t (id {id}, body {long}){table}";
        assert_eq!(write(text, DbBackend::Sqlite), "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)");
        assert_eq!(write(text, DbBackend::Postgres), "CREATE TABLE t (id BIGINT PRIMARY KEY, body TEXT)");
        assert!(write(text, DbBackend::MySql).ends_with("COLLATE=utf8mb4_bin"));
        assert!(!write("CREATE INDEX i ON t (a){open}", DbBackend::MySql).contains("WHERE"));
    }
}
