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

#[cfg(test)]
mod tests {
    use carillon_scheduler::Cause;

    use super::*;

    fn run(run_id: i64) -> ClaimedRun {
        ClaimedRun {
            run_id,
            job_id: 1,
            shard: 2,
            epoch: 1,
            cause: Cause::Schedule,
            fire_no: run_id,
            part: 0,
            parts: 1,
            attempt: 1,
            scheduled_at: 1_000,
            due_at: 1_000,
            bound_to: None,
            asked_parts: None,
            expires_at: None,
            traceparent: None,
            priority: None,
            is_patient: false,
        }
    }

    // covers: G20
    #[test]
    fn runs_that_were_not_sent_are_kept_by_their_ids_and_found_by_them() {
        let unsent = UnsentRuns::default();
        (0..100_000).for_each(|number| unsent.add(run(2 * number), number));
        // Every report asks this. A list would compare 10^10 ids here.
        assert!((0..100_000).all(|number| unsent.contains(2 * number) && !unsent.contains(2 * number + 1)));
        // That it is a map by id the compiler checks.
        let by_id: &BTreeMap<i64, (ClaimedRun, i64)> = &unsent.runs.lock();
        assert_eq!((by_id.len(), by_id.get(&10).map(|(run, token)| (run.run_id, *token))), (100_000, Some((10, 5))));
    }
}
