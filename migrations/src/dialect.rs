//! Writes one text of a table or index definition in the words of each database.

use sea_orm_migration::sea_orm::DbBackend;

const DATABASES: [&str; 3] = ["sqlite", "postgres", "mysql"];

/// What differs: the word in the text, then one text for each of [`DATABASES`].
const WORDS: [(&str, [&str; 3]); 4] = [
    // A rowid alias on SQLite, so that the table itself is ordered by the key.
    ("{id}", ["INTEGER PRIMARY KEY", "BIGINT PRIMARY KEY", "BIGINT PRIMARY KEY"]),
    ("{long}", ["TEXT", "TEXT", "MEDIUMTEXT"]),
    ("{clustered}", [" WITHOUT ROWID", "", " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"]),
    ("{table}", ["", "", " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"]),
];

/// `None`: the statement is for another database. A statement for some databases only starts with their names: `postgres: …`,
/// `sqlite postgres: …`. MySQL has no partial indexes: there the condition of an index is left out, and the index has all rows.
pub fn write(statement: &str, backend: DbBackend) -> Option<String> {
    let column = match backend {
        DbBackend::Postgres => 1,
        DbBackend::MySql => 2,
        _ => 0,
    };
    let statement = match statement.split_once(": ") {
        Some((names, statement)) if names.split(' ').all(|name| DATABASES.contains(&name)) => {
            names.contains(DATABASES[column]).then_some(statement)?
        }
        _ => statement,
    };
    let is_index = statement.starts_with("CREATE INDEX") || statement.starts_with("CREATE UNIQUE INDEX");
    let text = match statement.split_once(" WHERE ") {
        Some((whole, _)) if is_index && backend == DbBackend::MySql => whole,
        _ => statement,
    };
    Some(WORDS.iter().fold(text.to_owned(), |text, (word, by)| text.replace(word, by[column])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_gets_its_own_words() {
        let text = "CREATE TABLE t (id {id}, body {long}){table}";
        let write = |text, backend| write(text, backend).unwrap_or_default();
        assert_eq!(write(text, DbBackend::Sqlite), "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)");
        assert_eq!(write(text, DbBackend::Postgres), "CREATE TABLE t (id BIGINT PRIMARY KEY, body TEXT)");
        assert!(write(text, DbBackend::MySql).ends_with("COLLATE=utf8mb4_bin"));
        let partial = "CREATE INDEX i ON t (a) WHERE a > 0";
        assert_eq!(write(partial, DbBackend::MySql), "CREATE INDEX i ON t (a)");
        assert_eq!(write(partial, DbBackend::Postgres), partial);
    }

    #[test]
    fn a_statement_for_some_databases_is_left_out_on_the_others() {
        let text = "sqlite postgres: CREATE INDEX i ON t (a)";
        assert_eq!(write(text, DbBackend::MySql), None);
        for backend in [DbBackend::Sqlite, DbBackend::Postgres] {
            assert_eq!(write(text, backend).as_deref(), Some("CREATE INDEX i ON t (a)"));
        }
        // A colon alone makes no such list.
        let text = "INSERT INTO t (a) VALUES ('mysql: b')";
        assert_eq!(write(text, DbBackend::Sqlite).as_deref(), Some(text));
    }
}
