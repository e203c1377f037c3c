//! The forms of bulk statements: what differs between the databases in the structure of a statement, and not in a word.

use carillon_scheduler::RunState;
use sea_orm::DbBackend;

use crate::db::sql::template;

/// A statement before it is rendered.
pub enum Form {
    Text(&'static str),
    Update(Update),
    Lock(Lock),
    OpenRuns(OpenRuns),
}

/// Changes rows, each by what the list has for it.
pub struct Update {
    pub table: &'static str,
    /// MariaDB would read a small table as a whole, and wait for every lock on its way.
    pub index: &'static str,
    pub on: &'static str,
    pub set: &'static [(&'static str, &'static str)],
    /// What must hold besides; empty: nothing.
    pub only_if: &'static str,
}

/// Reads and locks rows of a list of ids, in their order.
pub struct Lock {
    pub columns: &'static str,
    pub table: &'static str,
    pub id: &'static str,
    pub only_if: &'static str,
}

/// Reads open runs of a list of shards by the index `run_open`.
pub struct OpenRuns {
    pub select: &'static str,
    /// Empty: all that are open.
    pub states: &'static [RunState],
    pub only_if: &'static str,
    /// GROUP BY, ORDER BY, LIMIT.
    pub rest: &'static str,
}

impl Form {
    /// `is_ids`: the list has one column.
    pub fn text(&self, backend: DbBackend, is_ids: bool) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Update(update) => update.text(backend, is_ids),
            Self::Lock(lock) => lock.text(backend),
            Self::OpenRuns(runs) => runs.text(backend),
        }
    }
}

impl Update {
    fn text(&self, backend: DbBackend, is_ids: bool) -> String {
        let Self { table, index, on, set, only_if } = self;
        let is_mysql = backend == DbBackend::MySql;
        let left = |column: &str| if is_mysql { format!("{table}.{column}") } else { column.to_owned() };
        let set: Vec<String> = set.iter().map(|(column, value)| format!("{} = {value}", left(column))).collect();
        let set = set.join(", ");
        match on.split_once(" = ") {
            _ if is_mysql => {
                let only_if = condition("WHERE", only_if);
                format!("UPDATE {{list}} STRAIGHT_JOIN {table} FORCE INDEX ({index}) ON {on} SET {set}{only_if}")
            }
            Some((key, _)) if is_ids => {
                let ids = template::ids(backend, ":list");
                format!("UPDATE {table} SET {set} WHERE {key} IN ({ids}){}", condition("AND", only_if))
            }
            _ => format!("UPDATE {table} SET {set} FROM {{list}} WHERE {on}{}", condition("AND", only_if)),
        }
    }
}

impl Lock {
    fn text(&self, backend: DbBackend) -> String {
        let Self { columns, table, id, only_if } = self;
        let found = match backend {
            DbBackend::MySql => {
                let only_if = condition("WHERE", only_if);
                format!("{{list}} STRAIGHT_JOIN {table} FORCE INDEX (PRIMARY) ON {id} = u.id{only_if}")
            }
            _ => format!("{table} WHERE {id} IN ({}){}", template::ids(backend, ":list"), condition("AND", only_if)),
        };
        format!("SELECT {columns} FROM {found} ORDER BY {id}{{for_update}}")
    }
}

impl OpenRuns {
    fn text(&self, backend: DbBackend) -> String {
        let Self { select, only_if, rest, .. } = self;
        let states: Vec<String> = self.states.iter().map(|state| state.code().to_string()).collect();
        let states = states.join(", ");
        let in_states = match states.is_empty() {
            true => String::new(),
            false => format!("run.state IN ({states}) AND "),
        };
        let open = format!("{in_states}run.state < {{state.final}}");
        let found = match backend {
            // With the shard alone MariaDB would read the entries of all runs that have ended.
            DbBackend::MySql => {
                let states = if states.is_empty() { "{state.open}" } else { &states };
                let only_if = condition("WHERE", only_if);
                format!(
                    "{{list}} STRAIGHT_JOIN JSON_TABLE('[{states}]', '$[*]' COLUMNS (state SMALLINT PATH '$')) AS s \
                     STRAIGHT_JOIN run FORCE INDEX (run_open) ON run.shard = u.shard AND run.state = s.state{only_if}"
                )
            }
            DbBackend::Postgres => {
                format!("run WHERE run.shard = ANY(:list::bigint[]) AND {open}{}", condition("AND", only_if))
            }
            _ => format!("{{list}} CROSS JOIN run ON run.shard = u.shard WHERE {open}{}", condition("AND", only_if)),
        };
        format!("SELECT {select} FROM {found} {rest}")
    }
}

fn condition(word: &str, condition: &str) -> String {
    if condition.is_empty() { String::new() } else { format!(" {word} {condition}") }
}
