//! The open runs of backfills that this node has created.

use std::sync::Arc;

use foldhash::HashSet;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Their ends wake the releaser early.
#[derive(Default)]
pub struct OpenBackfillRuns {
    runs: Mutex<HashSet<i64>>,
    pub wake: Arc<Notify>,
}

impl OpenBackfillRuns {
    pub fn add(&self, run_ids: &[i64]) {
        self.runs.lock().extend(run_ids);
    }

    /// Wakes the service if one of these is a run of a backfill.
    pub fn ended(&self, run_ids: impl Iterator<Item = i64>) {
        let mut runs = self.runs.lock();
        if !runs.is_empty() && run_ids.filter(|id| runs.remove(id)).count() > 0 {
            self.wake.notify_one();
        }
    }
}
