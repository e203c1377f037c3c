//! The line of runs that wait for slots of limits, and what is known of each of them.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::run::limit::Turns;
use carillon_scheduler::{Millis, SlotKey};
use foldhash::{HashMap, HashSet};

use crate::dispatch::limits::yields::Yields;
use crate::plan::due_queue::DueQueue;

/// What a run needs of limits.
pub enum Needs {
    /// Nothing: its limits are gone.
    Nothing,
    Slots(Arc<[SlotKey]>),
    /// Its job names a limit that is not known here yet.
    Unknown,
    /// Its parameters are not read in this tick.
    Later,
}

/// The turn of a run at its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When it came first.
    pub at: Millis,
    /// A slot was refused to it before: it is late because of that.
    pub has_waited: bool,
}

/// The slots of a run, and of what they were found out.
#[derive(Debug)]
pub(crate) struct KnownSlots {
    pub(super) job_version: (i64, i64),
    /// Id and version of each limit.
    pub(super) rules: Vec<(i64, i64)>,
    pub(super) slots: Arc<[SlotKey]>,
}

#[derive(Default)]
pub(crate) struct Line {
    pub(crate) turns: Turns,
    /// When slots are looked at next, on the monotonic clock.
    pub(super) look_at: Duration,
    /// Another node has said that slots are free, and nothing was looked at since.
    pub(super) is_hinted: bool,
    pub(super) yields: Yields,
    /// Runs whose rows say that they wait.
    pub(crate) noted: HashSet<i64>,
    /// Runs whose jobs name limits that are not known.
    pub(crate) unknown: HashSet<i64>,
    /// Of runs that have had their turn and are not sent yet.
    pub(crate) had_turns: HashMap<i64, Turn>,
    /// The slots of runs whose limits have keys.
    pub(crate) known: HashMap<i64, KnownSlots>,
}

impl Line {
    /// What is not in the ring is sent or gone; or in this tick, and loses little.
    pub(crate) fn forget_what_is_not_in(&mut self, queue: &DueQueue) {
        let Self { turns, noted, unknown, had_turns, known, .. } = self;
        for run_id in queue.not_there(unknown.iter().copied()) {
            unknown.remove(&run_id);
        }
        noted.retain(|run_id| turns.contains(*run_id) || unknown.contains(run_id));
        for run_id in queue.not_there(had_turns.keys().copied()) {
            had_turns.remove(&run_id);
        }
        for run_id in queue.not_there(known.keys().copied()) {
            known.remove(&run_id);
        }
    }
}
