//! Runs that this node has settled, begun or decided about, and from which something follows.

use std::mem::take;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Runs from whose ends something follows.
#[derive(Default)]
pub struct FollowedRuns {
    runs: Mutex<Vec<i64>>,
    pub wake: Arc<Notify>,
}

impl FollowedRuns {
    pub fn add(&self, run_ids: &[i64]) {
        if !run_ids.is_empty() {
            self.runs.lock().extend(run_ids);
            self.wake.notify_one();
        }
    }

    /// They are looked at again soon.
    pub fn put_back(&self, run_ids: &[i64]) {
        self.runs.lock().extend(run_ids);
    }

    pub fn take(&self) -> Vec<i64> {
        take(&mut *self.runs.lock())
    }

    pub fn has_some(&self) -> bool {
        !self.runs.lock().is_empty()
    }
}
