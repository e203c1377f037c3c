//! The three dialects. Statements are written with `?`; the hot ones have a text for each database (`hot-path` figures in
//! the README of `admin`).

use std::borrow::Cow;

use sea_orm::{DbBackend, Statement, Value};

/// One text for each database.
pub struct Text {
    pub sqlite: &'static str,
    pub postgres: &'static str,
    pub mysql: &'static str,
}

impl Text {
    pub fn of(&self, backend: DbBackend) -> &'static str {
        match backend {
            DbBackend::Postgres => self.postgres,
            DbBackend::MySql => self.mysql,
            _ => self.sqlite,
        }
    }
}

pub fn statement(backend: DbBackend, text: &str, values: Vec<Value>) -> Statement {
    Statement::from_sql_and_values(backend, numbered(backend, text).into_owned(), values)
}

/// PostgreSQL numbers its parameters. No text of ours has a question mark that is not a parameter.
fn numbered(backend: DbBackend, text: &str) -> Cow<'_, str> {
    if backend != DbBackend::Postgres || !text.contains('?') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (index, piece) in text.split('?').enumerate() {
        if index > 0 {
            out.push('$');
            out.push_str(&index.to_string());
        }
        out.push_str(piece);
    }
    Cow::Owned(out)
}

/// A list of integers as one parameter, and the SELECT that unfolds it: `… WHERE id IN (SELECT …)`.
pub fn id_list(backend: DbBackend, ids: &[i64]) -> (&'static str, Value) {
    let json = || Value::from(serde_json::to_string(ids).unwrap_or_default());
    match backend {
        DbBackend::Postgres => ("SELECT unnest(?::bigint[])", Value::from(ids.to_vec())),
        DbBackend::MySql => ("SELECT u.id FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u", json()),
        _ => ("SELECT u.value FROM json_each(?) AS u", json()),
    }
}

/// Deletes the rows of these numbers; the value is that of [`id_list`]. MariaDB would walk the whole table for `DELETE … WHERE id
/// IN (SELECT …)`, and wait for every lock on its way.
pub fn delete_by_id(backend: DbBackend, table: &str, key: &str) -> String {
    match backend {
        DbBackend::MySql => format!(
            "DELETE {table} FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN {table} ON {table}.{key} = u.id"
        ),
        other => format!("DELETE FROM {table} WHERE {key} IN ({})", id_list(other, &[]).0),
    }
}

/// The characters that LIKE would read as patterns, and the escape character itself (`!`; write `LIKE ? ESCAPE '!'`).
pub fn like_containing(text: &str) -> String {
    like_containing_as_is(&text.to_lowercase())
}

/// The same in the given case: SQLite's LOWER leaves letters outside ASCII as they are, so ask for both.
pub fn like_containing_as_is(text: &str) -> String {
    let escaped = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
    format!("%{escaped}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_parameters_are_numbered_from_one() {
        let text = "UPDATE t SET a=? WHERE b=?";
        assert_eq!(numbered(DbBackend::Postgres, text), "UPDATE t SET a=$1 WHERE b=$2");
        assert_eq!(numbered(DbBackend::MySql, text), text);
    }

    #[test]
    fn like_takes_its_own_signs_literally() {
        assert_eq!(like_containing("50%_!A"), "%50!%!_!!a%");
    }
}
