//! What follows from settled runs, gathered run by run.

use std::collections::BTreeSet;

use carillon_scheduler::Millis;
use foldhash::HashMap;

use crate::alarm::alarms::Alarm;
use crate::run::follow_up::FollowUp;
use crate::run::lock::LockedJob;
use crate::run::settle::finding::Settlement;

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
    /// Runs of nodes that have failed, with the numbers of their fires.
    pub(crate) failed_nodes: Vec<(i64, i64)>,
    /// Runs whose outcome is known after all, and the fires of which no further attempt is needed.
    pub(crate) known: Vec<i64>,
    pub(crate) late: Vec<Late>,
    /// Job and number of fires that have failed, of jobs that are paused after some of them in a row.
    pub(crate) failed: BTreeSet<(i64, i64)>,
    /// Jobs of which a run has succeeded, whose failures in a row are counted.
    pub(crate) recovered: BTreeSet<i64>,
    /// The ends that others follow.
    pub(crate) follow_ups: Vec<FollowUp>,
}
