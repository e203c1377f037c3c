//! What an advance works with and what it answers.

use foldhash::HashMap;

use crate::alarm::alarms::Alarm;
use crate::run::lock::LockedJob;
use crate::run::settle::finding::RunReport;

/// What has followed.
#[derive(Debug, Default)]
pub struct Advanced {
    /// Shards with a new run, or a new cursor.
    pub to_scan: Vec<i32>,
    /// Children that were not started.
    pub alarms: Vec<Alarm>,
    /// Runs from whose end nothing has followed yet, because another session holds a job.
    pub held_up: Vec<i64>,
    /// Ends of workflows, to be settled.
    pub to_end: Vec<RunReport>,
    /// Nodes of workflows that were started.
    pub nodes_started: usize,
    /// Runs of nodes whose end is to be asked for.
    pub to_kill: Vec<i64>,
}

impl Advanced {
    pub(crate) fn add(&mut self, other: Self) {
        self.to_scan.extend(other.to_scan);
        self.alarms.extend(other.alarms);
        self.held_up.extend(other.held_up);
        self.to_end.extend(other.to_end);
        self.nodes_started += other.nodes_started;
        self.to_kill.extend(other.to_kill);
    }
}

/// A fire of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fire {
    pub fire_no: i64,
    pub job_id: i64,
    pub cause: i16,
}

/// What a transaction works with. The ids are taken before it: on SQLite there is no second writer.
pub(crate) struct Advancing {
    pub advanced: Advanced,
    pub runs: Vec<i64>,
    pub rows: Vec<i64>,
    pub jobs: HashMap<i64, LockedJob>,
}
