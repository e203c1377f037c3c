//! Runs whose request was certainly not written, each with the token of its mark, until their rows say so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::runtime::lock;
use carillon_store::run::adopt::ClaimedRun;

#[derive(Default)]
pub struct UnsentRuns {
    runs: Mutex<BTreeMap<i64, (ClaimedRun, i64)>>,
    pub wake: Arc<Notify>,
}

impl UnsentRuns {
    /// They stay here while they are written.
    pub fn runs(&self) -> MutexGuard<'_, BTreeMap<i64, (ClaimedRun, i64)>> {
        lock(&self.runs)
    }

    pub fn add(&self, run: ClaimedRun, token: i64) {
        self.runs().insert(run.run_id, (run, token));
        self.wake.notify_one();
    }

    pub fn contains(&self, run_id: i64) -> bool {
        self.runs().contains_key(&run_id)
    }

    pub fn is_empty(&self) -> bool {
        self.runs().is_empty()
    }
}
