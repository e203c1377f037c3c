//! What must add up whatever was done to the program: instants, runs, misfires, receipts and results.

use std::collections::{BTreeMap, HashMap, HashSet};

use carillon_scheduler::Millis;
use carillon_testkit::{Receipt, RecordingExecutor};

use super::api::{Job, Misfire, Run};
use super::load::result_of;

/// The jobs of these tests fire each second.
const SECOND: Millis = 1000;

/// Nodes keep the database's time, in whole milliseconds on both sides.
const CLOCK_ERROR: Millis = 2;

/// Every instant up to `until` is a run or lies in one misfire range; none is both, none is there twice.
pub fn assert_each_instant_is_recorded_once(jobs: &[Job], runs: &[Run], misfires: &[Misfire], until: Millis) {
    let mut recorded: HashMap<i64, BTreeMap<Millis, usize>> = HashMap::new();
    let mut record = |job: i64, at: Millis| {
        *recorded.entry(job).or_default().entry(at).or_default() += 1;
    };
    for run in runs.iter().filter(|run| run.attempt == 1) {
        assert_eq!(run.cause, "schedule");
        record(run.job_id, run.scheduled_at.timestamp_millis());
    }
    for range in misfires {
        let (from, to) = (range.from.timestamp_millis(), range.to.timestamp_millis());
        assert_eq!((to - from) / SECOND + 1, range.count, "{range:?}");
        (from..=to).step_by(SECOND as usize).for_each(|at| record(range.job_id, at));
    }
    for job in jobs {
        let instants = recorded.remove(&job.id).unwrap_or_default();
        let created = job.created_at.timestamp_millis();
        let first = created.div_euclid(SECOND) * SECOND + SECOND;
        let expected: Vec<Millis> = (first..=until).step_by(SECOND as usize).collect();
        let found: Vec<Millis> = instants.range(..=until).map(|(at, _)| *at).collect();
        assert_eq!(found, expected, "job {}: its instants, each of them", job.id);
        let twice: Vec<_> = instants.iter().filter(|(_, count)| **count != 1).collect();
        assert!(twice.is_empty(), "job {}: more than once: {twice:?}", job.id);
    }
    assert!(recorded.is_empty(), "of no job: {recorded:?}");
}

/// Nothing reached an executor twice, nothing without a row, nothing before its time; what a row says is what happened.
pub fn assert_receipts_and_runs_agree(runs: &[Run], receipts: &[Receipt]) {
    let mut keys = HashSet::new();
    let mut by_run: HashMap<i64, &Receipt> = HashMap::new();
    for receipt in receipts {
        assert!(keys.insert(&receipt.fire_key), "received twice: {receipt:?}");
        assert!(receipt.received_at + CLOCK_ERROR >= receipt.scheduled_at, "too early: {receipt:?}");
        by_run.insert(receipt.run_id, receipt);
    }
    assert_eq!(by_run.len(), receipts.len());
    for run in runs {
        let answered = match by_run.remove(&run.id) {
            None => {
                assert!(matches!(&*run.state, "cancelled" | "unknown"), "never received: {run:?}");
                continue;
            }
            Some(receipt) => receipt.answered,
        };
        let (code, text) = result_of(run.id);
        let expected = match (answered, code) {
            (false, _) => "unknown",
            (true, 200) => "succeeded",
            (true, _) => "failed",
        };
        assert_eq!(run.state, expected, "{run:?}");
        assert!(!answered || run.message == text, "{run:?}");
    }
    assert!(by_run.is_empty(), "received without a row: {by_run:?}");
}

/// What was answered 200 is there, with that result.
pub fn assert_acknowledged_results_are_there(runs: &[Run], executors: &[RecordingExecutor]) {
    let by_id: HashMap<i64, &Run> = runs.iter().map(|run| (run.id, run)).collect();
    for run_id in executors.iter().flat_map(RecordingExecutor::acknowledged) {
        let (code, text) = result_of(run_id);
        let run = by_id[&run_id];
        let state = if code == 200 { "succeeded" } else { "failed" };
        assert_eq!((&*run.state, &*run.message), (state, &*text), "{run:?}");
    }
}

/// How many runs are in each state.
pub fn by_state(runs: &[Run]) -> BTreeMap<&str, usize> {
    let mut states = BTreeMap::new();
    for run in runs {
        *states.entry(&*run.state).or_default() += 1;
    }
    states
}
