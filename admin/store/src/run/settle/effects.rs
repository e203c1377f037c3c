//! What follows from settled runs, gathered run by run.

use std::collections::BTreeSet;

use carillon_scheduler::Millis;
use foldhash::HashMap;

use crate::alarm::alarms::Alarm;
use crate::run::lock::{LockedJob, LockedRun};
use crate::run::settle::finding::Settlement;

/// The fire of a job that has children, in the order in which fires are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fire {
    pub fire_no: i64,
    pub job_id: i64,
    pub cause: i16,
}

impl Fire {
    pub fn of(row: &LockedRun) -> Self {
        Self { fire_no: row.fire_no, job_id: row.job_id, cause: row.cause.code() }
    }
}

/// The next attempt of a run.
pub struct Retry {
    pub id: i64,
    pub of: i64,
    pub due_at: Millis,
    pub shard: i32,
}

/// Fire, job, cause, part and attempt of a run that has succeeded after all.
pub type Late = (i64, i64, i16, i32, i32);

/// What a settle gathers on its way. The ids are taken before its transaction: on SQLite there is no second writer.
#[derive(Default)]
pub(crate) struct SettleEffects {
    pub(crate) settled: Settlement,
    pub(crate) runs: Vec<i64>,
    pub(crate) rows: Vec<i64>,
    pub(crate) jobs: HashMap<i64, LockedJob>,
    pub(crate) retries: Vec<Retry>,
    pub(crate) alarms: Vec<(i64, Alarm)>,
    /// Runs whose outcome is known after all, and the fires of which no further attempt is needed.
    pub(crate) known: Vec<i64>,
    pub(crate) late: Vec<Late>,
    /// Job and number of fires from whose ends a fixed delay counts.
    pub(crate) ended: BTreeSet<(i64, i64)>,
    /// Job and number of fires that have failed, of jobs that are paused after some of them in a row.
    pub(crate) failed: BTreeSet<(i64, i64)>,
    /// Fires of parents of which a part has succeeded just now.
    pub(crate) done: BTreeSet<Fire>,
}
