//! How many runs ended how.

use carillon_scheduler::RunState;
use sea_orm::Value;

/// Runs by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub succeeded: i64,
    pub failed: i64,
    pub killed: i64,
    pub cancelled: i64,
    /// Sent, and their outcome is not known: `unknown` and `lost`.
    pub doubtful: i64,
}

pub(crate) const COLUMNS: &str = "succeeded, failed, killed, cancelled, doubtful";

impl Counts {
    /// What counts a run of this state. None: it has not ended.
    pub(crate) fn of(&mut self, state: RunState) -> Option<&mut i64> {
        match state {
            RunState::Succeeded => Some(&mut self.succeeded),
            RunState::Failed => Some(&mut self.failed),
            RunState::Killed => Some(&mut self.killed),
            RunState::Cancelled => Some(&mut self.cancelled),
            RunState::Unknown | RunState::Lost => Some(&mut self.doubtful),
            RunState::Claimed | RunState::Sending | RunState::Running => None,
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.killed += other.killed;
        self.cancelled += other.cancelled;
        self.doubtful += other.doubtful;
    }

    /// Failed, or with an outcome that is not known.
    pub fn bad(&self) -> i64 {
        self.failed + self.doubtful
    }

    /// Runs that were to run: without the cancelled ones, which were never sent.
    pub fn attempted(&self) -> i64 {
        self.succeeded + self.failed + self.killed + self.doubtful
    }

    pub fn all(&self) -> i64 {
        self.attempted() + self.cancelled
    }

    /// From 0 to 1. None: nothing was to run.
    pub fn success_rate(&self) -> Option<f64> {
        let all = self.attempted();
        (all > 0).then(|| self.succeeded as f64 / all as f64)
    }

    pub(crate) fn values(&self) -> Vec<Value> {
        values![self.succeeded, self.failed, self.killed, self.cancelled, self.doubtful]
    }

    pub(crate) fn from_row((succeeded, failed, killed, cancelled, doubtful): (i64, i64, i64, i64, i64)) -> Self {
        Self { succeeded, failed, killed, cancelled, doubtful }
    }
}
