//! How often in a row planning a job has failed: one failure may have a passing cause.

use foldhash::HashMap;
use parking_lot::Mutex;

/// After this many failures in a row the job is paused.
pub const MOST_FAILURES: u32 = 3;

/// By job.
#[derive(Default)]
pub struct PlanFailures(Mutex<HashMap<i64, u32>>);

impl PlanFailures {
    /// True: it was one too many.
    pub fn record(&self, job_id: i64) -> bool {
        let mut map = self.0.lock();
        let count = map.entry(job_id).or_default();
        *count += 1;
        *count >= MOST_FAILURES
    }

    pub fn clear(&self, job_id: i64) {
        self.0.lock().remove(&job_id);
    }
}
