//! I9 and I12: failures have their further attempts, and nothing is open at the end.

use super::index::Index;
use super::unclear::settled_at;
use super::{Figure, Findings};
use crate::clock::Millis;
use crate::record::{Call, History, Op, Outcome, RunRow, State, rows};

pub fn check(history: &History, index: &Index<'_>, findings: &mut Findings) {
    for (key, rows) in &index.fires {
        let attempts: Vec<i64> = rows.iter().map(|row| row.attempt).collect();
        if attempts.iter().zip(1..).any(|(attempt, wanted)| *attempt != wanted) {
            findings.add(Figure::AttemptGap, || format!("{key}: {attempts:?}"));
        }
        if let Some(last) = rows.last() {
            last_attempt(history, last, index, findings);
        }
    }
    for run in &history.runs {
        let open = matches!(run.state, State::Claimed | State::Sending | State::Running | State::Other);
        if open && !waits_for_a_lease(run, index) && !waits_for_a_node(history, run, index) {
            findings.add(Figure::Stuck, || format!("{run:?}"));
        }
    }
}

/// The last one succeeded, or was the last that is allowed.
fn last_attempt(history: &History, last: &RunRow, index: &Index<'_>, findings: &mut Findings) {
    let failed = matches!(last.state, State::Failed | State::Lost | State::Unknown);
    let allowed = i64::from(index.retries(last.job_id)) + 1;
    // What fails after the stop finds its job disabled.
    let before_the_stop = last.finished_at.is_some_and(|at| at < history.meta.phases.stopped_at);
    // A disabled job's failures have no further attempts.
    let disabled = last.finished_at.is_some_and(|at| may_be_disabled(history, last.job_id, at));
    // Its items have their own further attempts.
    let is_delivered = history.maps.iter().any(|map| map.run_id == last.id && map.released > 0);
    if failed && before_the_stop && !disabled && !is_delivered && last.attempt < allowed {
        findings.add(Figure::RetryMissing, || format!("{allowed} are allowed: {last:?}"));
    }
}

/// A disable may have taken effect before this moment, and no later enable is certain.
fn may_be_disabled(history: &History, job: i64, at: Millis) -> bool {
    let of_job = || history.calls.iter().filter(|call| call.job == job);
    let disabled = |call: &&Call| {
        matches!(call.op, Op::Disable | Op::Delete) && call.outcome != Outcome::Fail && call.invoked_at <= at
    };
    of_job().filter(disabled).any(|off| {
        let from = match off.outcome {
            Outcome::Unclear => settled_at(history, off),
            _ => off.invoked_at,
        };
        !of_job()
            .any(|on| on.op == Op::Enable && on.outcome == Outcome::Ok && on.invoked_at >= from && on.returned_at <= at)
    })
}

/// Whether the run was at a stock executor that was killed: only the end of its lease, after minutes, can tell.
fn waits_for_a_lease(run: &RunRow, index: &Index<'_>) -> bool {
    let receipts = index.receipts_of(run.id);
    run.state == State::Running
        && !receipts.is_empty()
        && receipts.iter().all(|receipt| !index.own.contains(&*receipt.event.executor) && !index.lives(receipt.event))
}

/// Whether it is a workflow that waits for such a run.
fn waits_for_a_node(history: &History, run: &RunRow, index: &Index<'_>) -> bool {
    let mut nodes = history.runs.iter().filter(|node| node.cause == rows::NODE && node.fire_no >> 10 == run.id);
    index.group(run.job_id) == "flow"
        && nodes.any(|node| waits_for_a_lease(node, index) || waits_for_a_node(history, node, index))
}
