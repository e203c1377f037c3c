//! Which runs are to go: by age, by number, and never a job's last failures.

use std::collections::VecDeque;

use carillon_scheduler::{Millis, RunState};
use foldhash::{HashMap, HashMapExt as _, HashSet};

use carillon_store::retention::prune_runs::PrunableRun;
use carillon_store::retention::rules::EffectiveRetention;

pub const DAY: Millis = 86_400_000;

/// What this round sees, and what the one before has seen.
#[derive(Default)]
pub struct RetentionFilter {
    /// Of each job: its last failures, and how many runs it has that have ended without failing.
    seen: HashMap<i64, Seen>,
    before: Option<Before>,
}

#[derive(Default)]
struct Seen {
    failures: VecDeque<i64>,
    others: i64,
}

struct Before {
    last_failures: HashSet<i64>,
    /// Of each job: runs that it had, less those that this round has let go.
    others: HashMap<i64, i64>,
}

impl RetentionFilter {
    /// Runs are asked about in the order of their ids.
    pub fn should_delete(&mut self, run: &PrunableRun, keep: &EffectiveRetention, now: Millis) -> bool {
        match run.state {
            RunState::Unknown | RunState::Lost => return is_old(run, keep.failure_days, now),
            state if state.is_open() => return false,
            _ => {}
        }
        let is_failure = run.state == RunState::Failed;
        let goes = match is_failure {
            true => self.failure_goes(run, keep, now),
            false => is_old(run, keep.days, now) || self.is_too_many(run, keep),
        };
        // Only what a rule asks for is remembered: there may be a million jobs.
        if is_failure && keep.failures == 0 || !is_failure && keep.runs == 0 {
            return goes;
        }
        let seen = self.seen.entry(run.job_id).or_default();
        match (is_failure, goes) {
            (true, _) => {
                seen.failures.push_back(run.id);
                if seen.failures.len() > keep.failures.unsigned_abs() as usize {
                    seen.failures.pop_front();
                }
            }
            (false, false) => seen.others += 1,
            (false, true) => {
                if let Some(before) = &mut self.before {
                    *before.others.entry(run.job_id).or_default() -= 1;
                }
            }
        }
        goes
    }

    fn failure_goes(&self, run: &PrunableRun, keep: &EffectiveRetention, now: Millis) -> bool {
        let is_last = match &self.before {
            Some(before) => before.last_failures.contains(&run.id),
            None => true,
        };
        is_old(run, keep.failure_days, now) && !(is_last && keep.failures > 0)
    }

    fn is_too_many(&self, run: &PrunableRun, keep: &EffectiveRetention) -> bool {
        let had = self.before.as_ref().and_then(|before| before.others.get(&run.job_id));
        keep.runs > 0 && had.is_some_and(|had| *had > i64::from(keep.runs))
    }

    /// What was seen is what the next round knows.
    pub fn next_round(self) -> Self {
        let last_failures = self.seen.values().flat_map(|seen| seen.failures.iter().copied()).collect();
        let others = self.seen.into_iter().map(|(job, seen)| (job, seen.others)).collect();
        Self { seen: HashMap::new(), before: Some(Before { last_failures, others }) }
    }
}

/// Does it go by its age alone? Of what a job may have a number, the walk over all runs decides: it counts them.
pub fn is_aged(run: &PrunableRun, keep: &EffectiveRetention, now: Millis) -> bool {
    match run.state {
        RunState::Unknown | RunState::Lost => is_old(run, keep.failure_days, now),
        state if state.is_open() => false,
        RunState::Failed => keep.failures == 0 && is_old(run, keep.failure_days, now),
        _ => keep.runs == 0 && is_old(run, keep.days, now),
    }
}

fn is_old(run: &PrunableRun, days: i32, now: Millis) -> bool {
    days > 0 && run.at < now - i64::from(days) * DAY
}

#[cfg(test)]
mod tests {
    use super::*;
    use carillon_store::retention::rules::DEFAULT;

    const NOW: Millis = 1_760_000_000_000;

    fn run(id: i64, state: RunState, days_old: i64) -> PrunableRun {
        PrunableRun { id, job_id: 7, app_id: 1, state, at: NOW - days_old * DAY - 1, candidates_id: None }
    }

    fn gone(filter: &mut RetentionFilter, runs: &[PrunableRun], keep: &EffectiveRetention) -> Vec<i64> {
        runs.iter().filter(|run| filter.should_delete(run, keep, NOW)).map(|run| run.id).collect()
    }

    // covers: 001-35
    #[test]
    fn the_last_failures_of_a_job_stay_however_old() {
        let keep = EffectiveRetention { failures: 2, ..DEFAULT };
        let runs = [
            run(1, RunState::Failed, 100),
            run(2, RunState::Failed, 99),
            run(3, RunState::Succeeded, 98),
            run(4, RunState::Failed, 97),
            run(5, RunState::Unknown, 96),
            run(6, RunState::Succeeded, 29),
            run(7, RunState::Lost, 89),
            run(8, RunState::Running, 400),
        ];
        let mut filter = RetentionFilter::default();
        assert_eq!(gone(&mut filter, &runs, &keep), [3, 5], "the first round does not know the last failures");
        let mut filter = filter.next_round();
        assert_eq!(gone(&mut filter, &runs, &keep), [1, 3, 5]);
        let none = EffectiveRetention { failures: 0, ..DEFAULT };
        assert_eq!(gone(&mut RetentionFilter::default(), &runs, &none), [1, 2, 3, 4, 5]);
        let for_ever = EffectiveRetention { days: 0, failure_days: 0, failures: 0, runs: 0 };
        assert_eq!(gone(&mut RetentionFilter::default(), &runs, &for_ever), [0i64; 0]);
    }

    #[test]
    fn of_too_many_runs_the_oldest_go() {
        let keep = EffectiveRetention { runs: 2, ..DEFAULT };
        let runs: Vec<PrunableRun> = (1..=5).map(|id| run(id, RunState::Succeeded, 0)).collect();
        let mut filter = RetentionFilter::default();
        assert_eq!(gone(&mut filter, &runs, &keep), [0i64; 0]);
        let mut filter = filter.next_round();
        assert_eq!(gone(&mut filter, &runs, &keep), [1, 2, 3]);
        let mut filter = filter.next_round();
        assert_eq!(gone(&mut filter, &runs[3..], &keep), [0i64; 0]);
    }
}
