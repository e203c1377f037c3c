//! SQL for the three databases, written once: parameters are `?`, and marks stand where the databases differ.
//!
//! | mark | SQLite | PostgreSQL | MySQL, MariaDB |
//! | --- | --- | --- | --- |
//! | `{ids}` | rows of `json_each(?)` | `unnest(?::bigint[])` | rows of `JSON_TABLE(?, …)` |
//! | `{among}` | `IN (`rows of `json_each(?))` | `= ANY(?::bigint[])` | `IN (`rows of `JSON_TABLE(?, …))` |
//! | `{+run.state}` | `+run.state` | `run.state + 0` | `run.state` |
//! | `{index run_open}` | | | ` FORCE INDEX (run_open)` |
//! | `{by_index job_kind}` | ` INDEXED BY job_kind` | | ` FORCE INDEX (job_kind)` |
//! | `{?}` | `? + 0` | `?` | `?` |
//! | `{for_update}` | | ` FOR UPDATE` | ` FOR UPDATE` |
//! | `{clock}` | `:now` | its clock, in ms | its clock, in ms |
//! | `{join}` | `CROSS JOIN` | `JOIN` | `STRAIGHT_JOIN` |
//!
//! `{ids}` is a list of integers as one parameter, for `… IN ({ids})`: the text stays the same for any number, so that the
//! statement caches hold. `{among}` is the same for a condition that many rows are tested by: PostgreSQL would walk through the rows of
//! `unnest` for each of them. `{?}` is a bound of a range: SQLite would plan the statement again for each value of it. `{+column}` keeps
//! the planner off an index. `{for_update}`: SQLite has locked the whole file. `{clock}` is for statements over a list, see [`database_now`].
//! The words of our enums are marks too: see [`codes`].

use std::borrow::Cow;
use std::fmt::Write as _;

use sea_orm::{DbBackend, Statement, Value};

use crate::db::sql::codes;

pub fn statement(backend: DbBackend, template: &str, values: Vec<Value>) -> Statement {
    let text = render(backend, template);
    Statement::from_sql_and_values(backend, numbered(backend, &text).into_owned(), values)
}

/// The text with its marks replaced. Parameters are still `?`.
pub fn render(backend: DbBackend, template: &str) -> Cow<'_, str> {
    if !template.contains('{') {
        return Cow::Borrowed(template);
    }
    let mut out = String::with_capacity(template.len() + 64);
    let mut pieces = template.split('{');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (mark, rest) = piece.split_once('}').unwrap_or((piece, ""));
        out.push_str(&replacement(backend, mark));
        out.push_str(rest);
    }
    Cow::Owned(out)
}

fn replacement(backend: DbBackend, mark: &str) -> Cow<'static, str> {
    let is_mysql = backend == DbBackend::MySql;
    match mark {
        "ids" => ids(backend, "?").into(),
        "among" => match backend {
            DbBackend::Postgres => "= ANY(?::bigint[])".into(),
            other => format!("IN ({})", ids(other, "?")).into(),
        },
        "?" => if backend == DbBackend::Sqlite { "? + 0" } else { "?" }.into(),
        "clock" => if backend == DbBackend::Sqlite { ":now" } else { database_now(backend) }.into(),
        "for_update" => if backend == DbBackend::Sqlite { "" } else { " FOR UPDATE" }.into(),
        "join" => match backend {
            DbBackend::MySql => "STRAIGHT_JOIN",
            DbBackend::Postgres => "JOIN",
            _ => "CROSS JOIN",
        }
        .into(),
        _ => {
            if let Some(index) = mark.strip_prefix("index ") {
                return if is_mysql { format!(" FORCE INDEX ({index})").into() } else { "".into() };
            }
            if let Some(index) = mark.strip_prefix("by_index ") {
                return match backend {
                    DbBackend::MySql => format!(" FORCE INDEX ({index})"),
                    DbBackend::Postgres => String::new(),
                    _ => format!(" INDEXED BY {index}"),
                }
                .into();
            }
            if let Some(column) = mark.strip_prefix('+') {
                return match backend {
                    DbBackend::MySql => column.to_owned(),
                    DbBackend::Postgres => format!("{column} + 0"),
                    _ => format!("+{column}"),
                }
                .into();
            }
            let literal = codes::literal(mark);
            debug_assert!(literal.is_some(), "the mark {mark} of a statement");
            literal.unwrap_or_default().into()
        }
    }
}

/// The database's own clock: whether a lease is over is decided by one clock alone, not by the nodes' clocks. On SQLite
/// the process is the only one there, and its clock is the database's.
pub const fn database_now(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "(extract(epoch FROM clock_timestamp())*1000)::bigint",
        DbBackend::MySql => "CAST(UNIX_TIMESTAMP(SYSDATE(3))*1000 AS SIGNED)",
        _ => "?",
    }
}

/// The SELECT that unfolds a list of integers.
pub fn ids(backend: DbBackend, parameter: &str) -> String {
    match backend {
        DbBackend::Postgres => format!("SELECT unnest({parameter}::bigint[])"),
        DbBackend::MySql => {
            format!("SELECT u.id FROM JSON_TABLE({parameter}, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u")
        }
        _ => format!("SELECT u.value FROM json_each({parameter}) AS u"),
    }
}

/// A SELECT of SQLite as one row: a JSON array of its rows, each an array of its columns.
pub fn as_json(text: &str) -> String {
    let columns =
        text.strip_prefix("SELECT ").and_then(|rest| rest.split_once(" FROM ")).map_or("", |(columns, _)| columns);
    format!("SELECT json_group_array(json_array({columns})) FROM ({text})")
}

/// The parameter of `{ids}`.
pub fn id_list(backend: DbBackend, ids: &[i64]) -> Value {
    match backend {
        DbBackend::Postgres => ids.to_vec().into(),
        _ => serde_json::to_string(ids).unwrap_or_default().into(),
    }
}

/// Deletes the rows of a list of integers. MariaDB would walk the whole table for `DELETE … WHERE id IN (SELECT …)`, and wait for
/// every lock on its way.
pub fn delete_by_id(backend: DbBackend, table: &str, key: &str) -> String {
    match backend {
        DbBackend::MySql => format!(
            "DELETE {table} FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN {table} ON {table}.{key} = u.id"
        ),
        other => format!("DELETE FROM {table} WHERE {key} IN ({})", ids(other, "?")),
    }
}

/// PostgreSQL numbers its parameters. No text of ours has a question mark that is not a parameter.
pub fn numbered(backend: DbBackend, text: &str) -> Cow<'_, str> {
    if backend != DbBackend::Postgres || !text.contains('?') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (index, piece) in text.split('?').enumerate() {
        if index > 0 {
            let _ = write!(out, "${index}");
        }
        out.push_str(piece);
    }
    Cow::Owned(out)
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
    fn marks_differ_by_database() {
        let text = "SELECT id FROM run{index run_open} WHERE {+state} = {state.sending}{for_update}";
        assert_eq!(render(DbBackend::Sqlite, text), "SELECT id FROM run WHERE +state = 1");
        assert_eq!(render(DbBackend::Postgres, text), "SELECT id FROM run WHERE state + 0 = 1 FOR UPDATE");
        assert_eq!(
            render(DbBackend::MySql, text),
            "SELECT id FROM run FORCE INDEX (run_open) WHERE state = 1 FOR UPDATE"
        );
    }

    #[test]
    fn a_list_is_read_as_one_text() {
        assert_eq!(
            as_json("SELECT id, at FROM t WHERE a = ? ORDER BY id"),
            "SELECT json_group_array(json_array(id, at)) FROM (SELECT id, at FROM t WHERE a = ? ORDER BY id)"
        );
    }
}
