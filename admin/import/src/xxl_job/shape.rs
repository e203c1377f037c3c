//! Which release made the tables. Nothing in the database names it, and people upgrade by hand: the columns show it.

use foldhash::HashMap;

use super::error::Error;

/// Releases whose tables differ in what an import reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// 2.2
    V22,
    /// 2.3 to 2.4
    V23,
    /// 2.5 to 3.1
    V25,
    /// 3.2 to 3.3
    V32,
    /// 3.4
    V34,
    /// 3.5
    V35,
}

/// The columns of a table, each with its type.
pub type Columns = HashMap<String, HashMap<String, String>>;

/// Tables that every release has.
const TABLES: [&str; 4] = ["xxl_job_info", "xxl_job_group", "xxl_job_user", "xxl_job_log"];
/// Columns of `xxl_job_info` in all releases but the first.
const SINCE_2_3: [&str; 3] = ["schedule_type", "schedule_conf", "misfire_strategy"];

impl Shape {
    /// # Errors
    /// A table is missing, or an upgrade was left in the middle.
    pub fn of(columns: &Columns) -> Result<Self, Error> {
        if let Some(table) = TABLES.iter().find(|table| !columns.contains_key(**table)) {
            return Err(Error::Source(format!("table {table} not found; is this the database of an xxl-job admin?")));
        }
        let has = |table: &str, column: &str| columns.get(table).is_some_and(|table| table.contains_key(column));
        let there = SINCE_2_3.iter().filter(|column| has("xxl_job_info", column)).count();
        if there == 0 {
            return match has("xxl_job_info", "job_cron") {
                true => Ok(Self::V22),
                false => Err(Error::Source("xxl_job_info has neither job_cron nor schedule_type".to_owned())),
            };
        }
        if let Some(missing) = SINCE_2_3.iter().find(|column| !has("xxl_job_info", column)) {
            let text = format!(
                "xxl_job_info has no column {missing}: an upgrade to 2.3 was left in the middle; finish it first"
            );
            return Err(Error::Source(text));
        }
        if !has("xxl_job_info", "job_desc") && !has("xxl_job_info", "name") {
            return Err(Error::Source("xxl_job_info has neither job_desc nor name".to_owned()));
        }
        let is_text = columns["xxl_job_info"].get("executor_param").is_some_and(|kind| kind.ends_with("text"));
        Ok(if has("xxl_job_info", "name") {
            Self::V35
        } else if is_text {
            Self::V34
        } else if has("xxl_job_user", "token") {
            Self::V32
        } else if columns.get("xxl_job_registry").is_some_and(|it| it.contains_key("__unique")) {
            Self::V25
        } else {
            Self::V23
        })
    }

    /// For people: the releases.
    pub const fn releases(self) -> &'static str {
        match self {
            Self::V22 => "2.2",
            Self::V23 => "2.3 to 2.4",
            Self::V25 => "2.5 to 3.1",
            Self::V32 => "3.2 to 3.3",
            Self::V34 => "3.4",
            Self::V35 => "3.5",
        }
    }
}
