//! The unknown outcomes: runs that a killed node had marked and not sent. None is lost: an executor of ours is asked again, at any
//! other the run is `unknown`, as its row is that of a run whose answer was lost.

use serde::Serialize;

use super::Findings;
use super::index::Index;
use crate::clock::Millis;
use crate::record::{History, RunRow};

/// What was on its way when the node was killed has arrived by then; what is asked again comes much later.
const ON_ITS_WAY: Millis = 200;
/// Runs that were due around the kill: marks are ahead by less, and no later run can have been marked.
const AROUND: Millis = 1_000;

/// What one kill left behind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnknownOutcomes {
    pub node: String,
    /// From the whole second that was nearest.
    pub at_ms: Millis,
    pub runs: usize,
    /// The time for which the whole cluster's load is that many runs, s.
    pub seconds: f64,
}

pub fn check(history: &History, index: &Index<'_>, findings: &mut Findings) {
    if history.meta.rehearsal != "unknown_outcomes" {
        return;
    }
    for fault in history.faults.iter().filter(|fault| !fault.failed) {
        let was_due = |run: &&RunRow| (run.due_at - fault.from).abs() <= AROUND;
        let runs = history.runs.iter().filter(was_due).filter(|run| is_in_doubt(run, fault.from, index)).count();
        findings.unknown_outcomes.push(UnknownOutcomes {
            node: fault.target.clone(),
            at_ms: (fault.from + 500).rem_euclid(1_000) - 500,
            runs,
            // Each job is due once a second.
            seconds: runs as f64 / history.jobs.len().max(1) as f64,
        });
    }
    let most = findings.unknown_outcomes.iter().map(|of_kill| of_kill.runs).max().unwrap_or_default();
    findings.total("in_doubt_most", most);
}

/// Marked before the kill, and not received before it: the mark is the last trace of its sender, or the run was sent again since.
fn is_in_doubt(run: &RunRow, killed_at: Millis, index: &Index<'_>) -> bool {
    let was_received = index.first_receipt(run.id).is_some_and(|at| at <= killed_at + ON_ITS_WAY);
    let was_marked = run.sends > 1 || run.marked_at.is_some_and(|at| at <= killed_at);
    was_marked && !was_received
}
