//! Rows of the product's tables, as the dump has them.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// Spelled as in the tables: the numbers are part of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Claimed,
    Sending,
    Running,
    Unknown,
    Lost,
    Succeeded,
    Failed,
    Killed,
    Cancelled,
    /// A number that the suite does not know.
    Other,
}

impl State {
    pub fn of(number: i64) -> Self {
        match number {
            0 => Self::Claimed,
            1 => Self::Sending,
            2 => Self::Running,
            3 => Self::Unknown,
            4 => Self::Lost,
            9 => Self::Succeeded,
            10 => Self::Failed,
            11 => Self::Killed,
            12 => Self::Cancelled,
            _ => Self::Other,
        }
    }
}

/// Causes, as the tables number them.
pub const SCHEDULE: i64 = 0;
pub const CHILD: i64 = 3;
/// Its number is that of the workflow's run, shifted by ten bits, and the place of the node.
pub const NODE: i64 = 5;
/// Its number is the run that has handed in the items, its part the delivery; 0: it reads the results.
pub const ITEM: i64 = 6;
/// Its number is that of the delayed trigger.
pub const DELAYED: i64 = 7;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRow {
    pub id: i64,
    pub job_id: i64,
    pub cause: i64,
    pub fire_no: i64,
    pub part: i64,
    pub parts: i64,
    pub attempt: i64,
    pub scheduled_at: Millis,
    pub due_at: Millis,
    pub state: State,
    pub epoch: i64,
    pub owner: Option<String>,
    pub marked_at: Option<Millis>,
    pub sends: i64,
    pub address: Option<String>,
    pub sent_at: Option<Millis>,
    pub reason: Option<String>,
    pub result_code: Option<i64>,
    pub finished_at: Option<Millis>,
}

impl RunRow {
    /// The first run of an instant of the schedule.
    pub fn is_first_of_instant(&self) -> bool {
        self.cause == SCHEDULE && self.part == 0 && self.attempt == 1
    }

    /// As it is sent to executors.
    pub fn fire_key(&self) -> String {
        let cause = match self.cause {
            0 => "schedule",
            1 => "manual",
            2 => "api",
            3 => "child",
            5 => "node",
            6 => "item",
            7 => "delayed",
            _ => "backfill",
        };
        format!("{}:{cause}:{}:{}", self.job_id, self.fire_no, self.part)
    }
}

/// Instants that were recorded as skipped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MisfireRow {
    pub job_id: i64,
    pub from_at: Millis,
    pub to_at: Millis,
    pub count: i64,
    pub reason: String,
}
