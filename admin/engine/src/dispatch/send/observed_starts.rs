//! When runs of jobs with an objective started, since the last look of `maintain::start_watcher`. A run starts when its request is sent:
//! what the executor does first is its own.

use carillon_scheduler::Millis;
use carillon_store::alarm::late_starts::LateStart;
use carillon_store::run::adopt::ClaimedRun;
use foldhash::HashMap;
use parking_lot::Mutex;

use crate::job_cache::CachedJob;

/// What the runs of one job did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobStarts {
    /// The first that was late, and when it was sent.
    pub late: Option<(LateStart, Millis)>,
    /// The run that was due last started in time.
    pub is_met: bool,
    last_due_at: Option<Millis>,
}

#[derive(Default)]
pub struct ObservedStarts(Mutex<HashMap<i64, JobStarts>>);

impl ObservedStarts {
    /// Jobs without an objective cost nothing here.
    pub fn record(&self, run: &ClaimedRun, job: &CachedJob, sent_at: Millis) {
        let start_within_seconds = job.stored.start_within_seconds;
        if start_within_seconds > 0 {
            let (run_id, job_id, due_at) = (run.run_id, run.job_id, run.due_at);
            self.add(LateStart { run_id, job_id, due_at, start_within_seconds }, sent_at);
        }
    }

    fn add(&self, run: LateStart, sent_at: Millis) {
        let is_late = sent_at - run.due_at > Millis::from(run.start_within_seconds) * 1_000;
        let mut jobs = self.0.lock();
        let starts = jobs.entry(run.job_id).or_default();
        if is_late && starts.late.is_none() {
            starts.late = Some((run, sent_at));
        }
        if starts.last_due_at.is_none_or(|last| last <= run.due_at) {
            (starts.is_met, starts.last_due_at) = (!is_late, Some(run.due_at));
        }
    }

    pub fn take(&self) -> HashMap<i64, JobStarts> {
        std::mem::take(&mut *self.0.lock())
    }

    /// They could not be written: the next look has them too.
    pub fn put_back(&self, former: HashMap<i64, JobStarts>) {
        let mut jobs = self.0.lock();
        for (job_id, former) in former {
            let starts = jobs.entry(job_id).or_default();
            starts.late = former.late.or(starts.late.take());
            if starts.last_due_at < former.last_due_at {
                (starts.is_met, starts.last_due_at) = (former.is_met, former.last_due_at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(run_id: i64, due_at: Millis) -> LateStart {
        LateStart { run_id, job_id: 7, due_at, start_within_seconds: 10 }
    }

    #[test]
    fn a_run_is_late_when_more_than_its_time_has_passed() {
        let starts = ObservedStarts::default();
        starts.add(run(1, 0), 10_000);
        assert_eq!(starts.take()[&7], JobStarts { late: None, is_met: true, last_due_at: Some(0) });
        starts.add(run(1, 0), 10_001);
        starts.add(run(2, 5), 10_006);
        let late = Some((run(1, 0), 10_001));
        assert_eq!(starts.take()[&7], JobStarts { late, is_met: false, last_due_at: Some(5) });
    }

    #[test]
    fn the_run_that_was_due_last_decides_whether_the_objective_is_met() {
        let starts = ObservedStarts::default();
        starts.add(run(2, 20_000), 21_000);
        starts.add(run(1, 0), 22_000);
        let taken = starts.take();
        assert!(taken[&7].is_met && taken[&7].late.is_some());
        starts.add(run(3, 40_000), 60_000);
        starts.put_back(taken);
        let both = starts.take();
        assert_eq!(both[&7].late, Some((run(1, 0), 22_000)));
        assert!(!both[&7].is_met, "the later one");
        assert!(starts.take().is_empty());
    }
}
