//! Statements over a list of rows that travels as one parameter: an array for each column on PostgreSQL, one JSON text
//! elsewhere. Written once, rendered once for each database, so that the text is the same for any number of rows and the
//! statement caches hold.
//!
//! `u.x` is a column of the list, `:x` a value of the whole statement. The marks of [`template`] hold too, and `{list}` is the
//! list in the place of a table `u`.

use std::fmt::Write as _;
use std::sync::OnceLock;

use sea_orm::{DbBackend, Statement, Value};

use crate::db::sql::forms::{Form, Lock, OpenRuns, Update};
use crate::db::sql::list::{IDS, ListColumn, ListRow, SHARDS};
use crate::db::sql::template;

pub struct Bulk {
    list: &'static [ListColumn],
    form: Form,
    rendered: [OnceLock<Rendered>; 3],
}

struct Rendered {
    text: String,
    /// In the order of the text.
    parameters: Vec<String>,
}

const LIST: &str = "list";

impl Bulk {
    pub const fn text(list: &'static [ListColumn], text: &'static str) -> Self {
        Self::new(list, Form::Text(text))
    }

    pub const fn update(list: &'static [ListColumn], update: Update) -> Self {
        Self::new(list, Form::Update(update))
    }

    /// Changes runs by their id, the first column of the list.
    pub const fn update_runs(
        list: &'static [ListColumn],
        set: &'static [(&'static str, &'static str)],
        only_if: &'static str,
    ) -> Self {
        Self::update(list, Update { table: "run", index: "PRIMARY", on: "run.id = u.id", set, only_if })
    }

    /// Its list is of ids.
    pub const fn lock(lock: Lock) -> Self {
        Self::new(IDS, Form::Lock(lock))
    }

    /// Its list is of shards.
    pub const fn open_runs(runs: OpenRuns) -> Self {
        Self::new(SHARDS, Form::OpenRuns(runs))
    }

    const fn new(list: &'static [ListColumn], form: Form) -> Self {
        Self { list, form, rendered: [const { OnceLock::new() }; 3] }
    }

    pub fn statement<R: ListRow>(&self, backend: DbBackend, scalars: &[(&str, Value)], rows: &[R]) -> Statement {
        let rendered = self.rendered(backend);
        let mut list = self.list_values(backend, rows).into_iter();
        let value = |name: &String| {
            if name == LIST {
                return list.next();
            }
            scalars.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let values: Vec<Value> = rendered.parameters.iter().filter_map(value).collect();
        debug_assert_eq!(values.len(), rendered.parameters.len(), "{}", rendered.text);
        Statement::from_sql_and_values(backend, rendered.text.clone(), values)
    }

    /// With `?` for its parameters.
    pub fn sql(&self, backend: DbBackend) -> String {
        self.render(backend).0
    }

    fn rendered(&self, backend: DbBackend) -> &Rendered {
        let place = match backend {
            DbBackend::Postgres => 1,
            DbBackend::MySql => 2,
            _ => 0,
        };
        self.rendered[place].get_or_init(|| {
            let (text, parameters) = self.render(backend);
            Rendered { text: template::numbered(backend, &text).into_owned(), parameters }
        })
    }

    fn render(&self, backend: DbBackend) -> (String, Vec<String>) {
        let text = self.form.text(backend, self.list.len() == 1);
        let text = text.replace("{list}", &self.source(backend));
        let text = self.columns(backend, &template::render(backend, &text));
        parameters(&text)
    }

    /// The list as a table `u`.
    fn source(&self, backend: DbBackend) -> String {
        let facts = || self.list.iter().map(|column| (column.name, column.kind.facts()));
        match backend {
            DbBackend::Postgres => {
                let arrays: Vec<String> = facts().map(|(_, (_, kind, _))| format!(":list::{kind}[]")).collect();
                let names: Vec<&str> = facts().map(|(name, _)| name).collect();
                format!("unnest({}) AS u({})", arrays.join(", "), names.join(", "))
            }
            DbBackend::MySql => {
                let path = |at: usize| if self.list.len() == 1 { "$".to_owned() } else { format!("$[{at}]") };
                let columns: Vec<String> = facts()
                    .enumerate()
                    .map(|(at, (name, (kind, ..)))| format!("{name} {kind} PATH '{}'", path(at)))
                    .collect();
                format!("JSON_TABLE(:list, '$[*]' COLUMNS ({})) AS u", columns.join(", "))
            }
            _ if self.list.len() == 1 => "json_each(:list) AS u".to_owned(),
            // A row in the binary form, so that its columns are found without parsing it again.
            _ => "jsonb_each(:list) AS u".to_owned(),
        }
    }

    /// `u.x` in the words of the database.
    fn columns(&self, backend: DbBackend, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut before = ' ';
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = match rest.strip_prefix("u.") {
                Some(name) if !is_word(before) => &name[..name.find(|c| !is_word(c)).unwrap_or(name.len())],
                _ => "",
            };
            if let Some(at) = self.list.iter().position(|column| column.name == name) {
                let column = &self.list[at];
                let _ = match backend {
                    DbBackend::Sqlite if self.list.len() == 1 => write!(out, "u.value"),
                    DbBackend::Sqlite => write!(out, "u.value->>{at}"),
                    DbBackend::Postgres if column.is_nullable => {
                        write!(out, "NULLIF(u.{name}, {})", column.kind.facts().2)
                    }
                    _ => write!(out, "u.{name}"),
                };
                rest = &rest[2 + name.len()..];
            } else {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
            before = first;
        }
        out
    }

    fn list_values<R: ListRow>(&self, backend: DbBackend, rows: &[R]) -> Vec<Value> {
        if backend != DbBackend::Postgres {
            return vec![serde_json::to_string(rows).unwrap_or_default().into()];
        }
        let mut columns: Vec<Vec<Value>> = self.list.iter().map(|_| Vec::with_capacity(rows.len())).collect();
        for row in rows {
            row.each_cell(&mut |at, cell| columns[at].push(self.list[at].kind.element(cell)));
        }
        debug_assert!(columns.iter().all(|column| column.len() == rows.len()));
        let kinds = self.list.iter().map(|column| column.kind.array_type());
        kinds.zip(columns).map(|(kind, column)| Value::Array(kind, Some(Box::new(column)))).collect()
    }
}

/// `:x` becomes `?`; the names in their order.
fn parameters(text: &str) -> (String, Vec<String>) {
    let (mut out, mut names) = (String::with_capacity(text.len()), vec![]);
    let mut rest = text;
    while let Some(at) = rest.find(':') {
        out.push_str(&rest[..at]);
        let name = &rest[at + 1..];
        let end = name.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(name.len());
        if end == 0 {
            // A cast of PostgreSQL.
            out.push_str("::");
            rest = &name[1..];
            continue;
        }
        out.push('?');
        names.push(name[..end].to_owned());
        rest = &name[end..];
    }
    out.push_str(rest);
    (out, names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::sql::list::{long, text};

    static NOTE_OVERLAP: Bulk = Bulk::update(
        &[long("id"), text("note", "VARCHAR(64)").nullable()],
        Update {
            table: "run",
            index: "PRIMARY",
            on: "run.id = u.id",
            set: &[("note", "u.note"), ("sends", "run.sends + 1"), ("at", ":now")],
            only_if: "{+run.state} = {state.claimed}",
        },
    );

    #[test]
    fn a_statement_is_rendered_for_each_database() {
        let rows = [(1i64, Some("a")), (2, None)];
        let sql = |backend| NOTE_OVERLAP.statement(backend, &[("now", 7i64.into())], &rows).to_string();
        assert_eq!(
            sql(DbBackend::Sqlite),
            "UPDATE run SET note = u.value->>1, sends = run.sends + 1, at = 7 FROM jsonb_each('[[1,\"a\"],[2,null]]') AS u \
             WHERE run.id = u.value->>0 AND +run.state = 0"
        );
        assert_eq!(
            sql(DbBackend::Postgres),
            "UPDATE run SET note = NULLIF(u.note, ''), sends = run.sends + 1, at = 7 \
             FROM unnest(ARRAY [1,2]::bigint[], ARRAY ['a','']::text[]) AS u(id, note) WHERE run.id = u.id AND run.state + 0 = 0"
        );
        assert_eq!(
            NOTE_OVERLAP.sql(DbBackend::MySql),
            "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', note VARCHAR(64) PATH '$[1]')) AS u \
             STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id \
             SET run.note = u.note, run.sends = run.sends + 1, run.at = ? WHERE run.state = 0"
        );
    }
}
