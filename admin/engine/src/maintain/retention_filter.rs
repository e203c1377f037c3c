//! Which runs are to go: by age, by number, and never a job's last failures.

use std::collections::BTreeMap;

use carillon_scheduler::{Millis, RunState};
use foldhash::{HashMap, HashSet};

use carillon_store::retention::prune_runs::PrunableRun;
use carillon_store::retention::rules::{EffectiveRetention, Retentions};

pub const DAY: Millis = 86_400_000;

/// How many runs this round has met of each job that have ended without failing.
#[derive(Default)]
pub struct RetentionFilter {
    seen: HashMap<i64, i64>,
}

impl RetentionFilter {
    /// Runs are asked about in the order of their ids, the newest first: what comes behind a job's number goes, and nothing has to
    /// be known of earlier rounds. `last_failures`: those that stay however old.
    pub fn should_delete(
        &mut self,
        run: &PrunableRun,
        keep: &EffectiveRetention,
        last_failures: &HashSet<i64>,
        now: Millis,
    ) -> bool {
        if run.state.is_open() || run.state == RunState::Failed || keep.runs == 0 {
            return goes_by_age(run, keep, last_failures, now);
        }
        // Only what a rule asks for is remembered: there may be a million jobs.
        let seen = self.seen.entry(run.job_id).or_default();
        *seen += 1;
        *seen > i64::from(keep.runs) || is_old(run, keep.days, now)
    }
}

/// Does it go by its age alone? Of what a job may have a number, the walk over all runs decides: it counts them.
pub fn is_aged(run: &PrunableRun, keep: &EffectiveRetention, last_failures: &HashSet<i64>, now: Millis) -> bool {
    let is_counted = keep.runs > 0 && run.state.is_final() && run.state != RunState::Failed;
    !is_counted && goes_by_age(run, keep, last_failures, now)
}

fn goes_by_age(run: &PrunableRun, keep: &EffectiveRetention, last_failures: &HashSet<i64>, now: Millis) -> bool {
    match run.state {
        RunState::Unknown | RunState::Lost => is_old(run, keep.failure_days, now),
        RunState::Failed => is_old(run, keep.failure_days, now) && !last_failures.contains(&run.id),
        state if state.is_open() => false,
        _ => is_old(run, keep.days, now),
    }
}

/// The jobs whose last failures decide about one of these runs, and how many of each stay.
pub fn failures_to_keep(runs: &[PrunableRun], rules: &Retentions, now: Millis) -> BTreeMap<i64, usize> {
    let failed = runs.iter().filter(|run| run.state == RunState::Failed);
    let kept = failed.filter_map(|run| {
        let keep = rules.keep(run.app_id, run.job_id);
        let asks = keep.failures > 0 && is_old(run, keep.failure_days, now);
        asks.then_some((run.job_id, keep.failures.unsigned_abs() as usize))
    });
    kept.collect()
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

    fn gone(filter: &mut RetentionFilter, runs: &[PrunableRun], keep: &EffectiveRetention, last: &[i64]) -> Vec<i64> {
        let last = last.iter().copied().collect();
        let goes = |run: &&PrunableRun| filter.should_delete(run, keep, &last, NOW);
        runs.iter().filter(goes).map(|run| run.id).collect()
    }

    // covers: 001-35
    #[test]
    fn the_last_failures_of_a_job_stay_however_old() {
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
        let with = |keep: &EffectiveRetention, last: &[i64]| gone(&mut RetentionFilter::default(), &runs, keep, last);
        assert_eq!(with(&DEFAULT, &[2, 4]), [1, 3, 5]);
        assert_eq!(with(&DEFAULT, &[]), [1, 2, 3, 4, 5]);
        let for_ever = EffectiveRetention { days: 0, failure_days: 0, failures: 0, runs: 0 };
        assert_eq!(with(&for_ever, &[]), [0i64; 0]);
        let of_a_number = EffectiveRetention { runs: 100, ..DEFAULT };
        let aged = runs.iter().filter(|run| is_aged(run, &of_a_number, &[2].into_iter().collect(), NOW));
        assert_eq!(aged.map(|run| run.id).collect::<Vec<_>>(), [1, 4, 5]);
    }

    #[test]
    fn of_too_many_runs_the_oldest_go() {
        let keep = EffectiveRetention { runs: 2, ..DEFAULT };
        let runs: Vec<PrunableRun> = (1..=5).rev().map(|id| run(id, RunState::Succeeded, 0)).collect();
        let mut filter = RetentionFilter::default();
        assert_eq!(gone(&mut filter, &runs, &keep, &[]), [3, 2, 1]);
        let mut filter = RetentionFilter::default();
        assert_eq!(gone(&mut filter, &runs[..2], &keep, &[]), [0i64; 0]);
    }
}
