//! Runs that wait for an earlier fire of their job, and those that were admitted and are not marked yet. The first only save
//! time: what waits is in its rows, and a holder that knows nothing of it finds it there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Cause, Millis};
use foldhash::HashMap;
use parking_lot::Mutex;

use crate::lease::held_shards::ShardListener;
use carillon_store::run::adopt::ClaimedRun;

/// Which fire of its job.
pub type FireId = (Cause, i64);

/// How often a job with runs that wait is looked at, if nothing that ends here wakes it: the end may come to another node.
pub const POLL: Duration = Duration::from_millis(500);

#[derive(Default)]
struct Inner {
    /// By job, in the order of their instants.
    waiting: HashMap<i64, BTreeMap<(Millis, i64), ClaimedRun>>,
    /// Which job waits for the end of a run, and the runs whose end each job waits for.
    blockers: HashMap<i64, i64>,
    blockers_of: HashMap<i64, Vec<i64>>,
    /// By job and run: the fires that are on their way to their mark.
    admitted: HashMap<i64, HashMap<i64, FireId>>,
}

impl Inner {
    fn forget_blockers(&mut self, job_id: i64) {
        for run_id in self.blockers_of.remove(&job_id).unwrap_or_default() {
            self.blockers.remove(&run_id);
        }
    }
}

#[derive(Default)]
pub struct OverlapTracker(Mutex<Inner>);

impl OverlapTracker {
    /// All that waits of a job, with these; nothing of it waits here any more.
    pub fn take_parked(&self, job_id: i64, due: Vec<ClaimedRun>) -> Vec<ClaimedRun> {
        let mut inner = self.0.lock();
        let mut waiting = inner.waiting.remove(&job_id).unwrap_or_default();
        inner.forget_blockers(job_id);
        waiting.extend(due.into_iter().map(|run| ((run.due_at, run.run_id), run)));
        waiting.into_values().collect()
    }

    /// Something of the job waits, by the rule that it had then.
    pub fn has_parked(&self, job_id: i64) -> bool {
        self.0.lock().waiting.contains_key(&job_id)
    }

    pub fn park(&self, job_id: i64, runs: Vec<ClaimedRun>, blockers: impl Iterator<Item = i64>) {
        let mut inner = self.0.lock();
        let runs = runs.into_iter().map(|run| ((run.due_at, run.run_id), run));
        inner.waiting.entry(job_id).or_default().extend(runs);
        let blockers: Vec<i64> = blockers.collect();
        let by_run = blockers.iter().map(|run_id| (*run_id, job_id));
        inner.blockers.extend(by_run);
        inner.blockers_of.entry(job_id).or_default().extend(blockers);
    }

    /// These runs have ended: the first that waits of each job that waited for them.
    pub fn ended(&self, run_ids: impl Iterator<Item = i64>) -> Vec<ClaimedRun> {
        let mut inner = self.0.lock();
        if inner.blockers.is_empty() {
            return vec![];
        }
        let jobs: Vec<i64> = run_ids.filter_map(|id| inner.blockers.remove(&id)).collect();
        let first = |job: &i64| inner.waiting.get(job)?.values().next().cloned();
        jobs.iter().filter_map(first).collect()
    }

    /// From now on the run's fire counts as open.
    pub fn admit(self: &Arc<Self>, run: &ClaimedRun) -> Admission {
        let (job_id, run_id) = (run.job_id, run.run_id);
        self.0.lock().admitted.entry(job_id).or_default().insert(run_id, (run.cause, run.fire_no));
        Admission { tracker: self.clone(), job_id, run_id }
    }

    /// Fires of a job that were admitted and have no mark yet.
    pub fn admitted_fires(&self, job_id: i64) -> Vec<FireId> {
        let inner = self.0.lock();
        inner.admitted.get(&job_id).into_iter().flat_map(HashMap::values).copied().collect()
    }
}

impl ShardListener for OverlapTracker {
    fn lost(&self, shard: i32) {
        let of_shard = |runs: &BTreeMap<_, ClaimedRun>| runs.values().any(|run| run.shard == shard);
        let mut inner = self.0.lock();
        let jobs = inner.waiting.iter().filter(|(_, runs)| of_shard(runs));
        let jobs: Vec<i64> = jobs.map(|(job_id, _)| *job_id).collect();
        for job_id in jobs {
            inner.waiting.remove(&job_id);
            inner.forget_blockers(job_id);
        }
    }
}

/// The fire of a run that was admitted and is not marked yet: it counts as open while this lives. A guard, because a run leaves
/// the way to its mark at many places, also by a panic or with a lost shard.
pub struct Admission {
    tracker: Arc<OverlapTracker>,
    job_id: i64,
    run_id: i64,
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut inner = self.tracker.0.lock();
        if let Some(runs) = inner.admitted.get_mut(&self.job_id) {
            runs.remove(&self.run_id);
            if runs.is_empty() {
                inner.admitted.remove(&self.job_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(job_id: i64, run_id: i64) -> ClaimedRun {
        ClaimedRun {
            run_id,
            job_id,
            shard: 2,
            epoch: 1,
            cause: Cause::Schedule,
            fire_no: run_id,
            part: 0,
            parts: 1,
            attempt: 1,
            scheduled_at: run_id,
            due_at: run_id,
            bound_to: None,
            asked_parts: None,
            expires_at: None,
            traceparent: None,
            priority: None,
            is_patient: true,
        }
    }

    fn held(overlaps: &OverlapTracker) -> (usize, usize, usize) {
        let inner = overlaps.0.lock();
        let of_jobs = inner.blockers_of.values().map(Vec::len).sum();
        (inner.waiting.len(), inner.blockers.len(), of_jobs)
    }

    // covers: F21
    #[test]
    fn a_shard_that_is_lost_takes_its_blockers_with_it() {
        let overlaps = OverlapTracker::default();
        overlaps.park(1, vec![waiting(1, 7)], [5, 6].into_iter());
        overlaps.park(2, vec![waiting(2, 9)], [8].into_iter());
        assert_eq!(held(&overlaps), (2, 3, 3));
        overlaps.lost(2);
        assert_eq!(held(&overlaps), (0, 0, 0));
    }

    // covers: F21
    #[test]
    fn a_job_that_is_looked_at_again_touches_its_own_blockers_alone() {
        let overlaps = OverlapTracker::default();
        overlaps.park(1, vec![waiting(1, 7)], [5, 6].into_iter());
        overlaps.park(2, vec![waiting(2, 9)], [8].into_iter());
        assert_eq!(overlaps.take_parked(1, vec![waiting(1, 4)]).len(), 2);
        assert_eq!(held(&overlaps), (1, 1, 1));
        assert_eq!(overlaps.ended([5, 6].into_iter()), [], "nothing waits for them any more");
        assert_eq!(overlaps.ended([8].into_iter()), [waiting(2, 9)]);
        assert_eq!(overlaps.take_parked(2, vec![]).len(), 1);
        assert_eq!(held(&overlaps), (0, 0, 0));
    }

    #[test]
    fn an_admitted_fire_is_open_until_its_guard_is_dropped() {
        let overlaps = Arc::new(OverlapTracker::default());
        let (first, second) = (overlaps.admit(&waiting(1, 7)), overlaps.admit(&waiting(1, 8)));
        assert_eq!(overlaps.admitted_fires(1).len(), 2);
        drop(first);
        assert_eq!(overlaps.admitted_fires(1), [(Cause::Schedule, 8)]);
        assert_eq!(overlaps.admitted_fires(2), []);
        drop(second);
        assert!(overlaps.0.lock().admitted.is_empty());
    }
}
