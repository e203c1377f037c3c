//! Runs whose request was certainly not written, each with the token of its mark, until their rows say so.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use carillon_store::run::adopt::ClaimedRun;

#[derive(Default)]
pub struct UnsentRuns {
    /// A run stays here while its row is written.
    pub runs: Mutex<BTreeMap<i64, (ClaimedRun, i64)>>,
    pub wake: Arc<Notify>,
}

impl UnsentRuns {
    pub fn add(&self, run: ClaimedRun, token: i64) {
        self.runs.lock().insert(run.run_id, (run, token));
        self.wake.notify_one();
    }

    pub fn contains(&self, run_id: i64) -> bool {
        self.runs.lock().contains_key(&run_id)
    }

    pub fn is_empty(&self) -> bool {
        self.runs.lock().is_empty()
    }
}
