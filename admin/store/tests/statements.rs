//! The text of each statement that runs all day, on each database, as a file: a change of SQL is a visible difference.
//!
//! `UPDATE_STATEMENTS=1 cargo test -p carillon-store --test statements` rewrites the file.

use std::fmt::Write as _;

use carillon_store::db::hot_statements::texts;
use sea_orm::DatabaseBackend;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/statements.sql");

#[test]
fn statements_are_as_on_file() {
    let mut found = String::new();
    for database in [DatabaseBackend::Sqlite, DatabaseBackend::Postgres, DatabaseBackend::MySql] {
        writeln!(found, "-- {database:?}\n").unwrap();
        for (name, text) in texts(database) {
            writeln!(found, "-- {name}\n{text};\n").unwrap();
        }
    }
    if std::env::var_os("UPDATE_STATEMENTS").is_some() {
        std::fs::write(FILE, &found).unwrap();
    }
    let kept = std::fs::read_to_string(FILE).unwrap_or_default();
    let differs = found.lines().zip(kept.lines()).find(|(found, kept)| found != kept);
    assert!(found == kept, "the file has other statements, first: {differs:?}; UPDATE_STATEMENTS=1 writes it anew");
}
