//! Runs whose outcome this process has and the database has not: from the moment it is known until its write is committed,
//! also while it is being written. The resolver asks nothing about them.

use std::sync::Arc;

use foldhash::HashMap;
use parking_lot::Mutex;

/// By run: how many outcomes of it are held.
#[derive(Clone, Default)]
pub struct PendingOutcomes(Arc<Mutex<HashMap<i64, usize>>>);

impl PendingOutcomes {
    pub fn hold(&self, runs: Vec<i64>) -> PendingGuard {
        let mut map = self.0.lock();
        for run_id in &runs {
            *map.entry(*run_id).or_default() += 1;
        }
        drop(map);
        PendingGuard { runs, held: self.clone() }
    }

    pub fn contains(&self, run_id: i64) -> bool {
        self.0.lock().contains_key(&run_id)
    }
}

/// Travels with an outcome. A guard, so that a write which panics or is cancelled leaves no run behind that is never asked about.
pub struct PendingGuard {
    runs: Vec<i64>,
    held: PendingOutcomes,
}

impl Drop for PendingGuard {
    fn drop(&mut self) {
        let mut map = self.held.0.lock();
        for run_id in &self.runs {
            if let Some(count) = map.get_mut(run_id) {
                *count -= 1;
                if *count == 0 {
                    map.remove(run_id);
                }
            }
        }
    }
}
