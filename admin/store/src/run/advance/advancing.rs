//! What an advance works with and what it answers.

use std::time::{Duration, Instant};

use foldhash::HashMap;

use crate::alarm::alarms::Alarm;
use crate::error::{Error, Result};
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
    /// How long each transaction has taken, with its reads: one for all that has no workflow and no items, one for each workflow and map.
    pub took: Vec<Duration>,
    /// What kept workflows and items from going on. What has been noted of them is found later.
    pub errors: Vec<Error>,
}

impl Advanced {
    /// Adds what one workflow, or the items of one run, does, or why it does not: those before it have committed.
    pub(crate) async fn add_each(&mut self, other: impl Future<Output = Result<Self>>) {
        let begun = Instant::now();
        let other = other.await;
        self.took.push(begun.elapsed());
        match other {
            Ok(other) => self.add(other),
            Err(error) => self.errors.push(error),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.to_scan.extend(other.to_scan);
        self.alarms.extend(other.alarms);
        self.held_up.extend(other.held_up);
        self.to_end.extend(other.to_end);
        self.nodes_started += other.nodes_started;
        self.to_kill.extend(other.to_kill);
        self.took.extend(other.took);
        self.errors.extend(other.errors);
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
