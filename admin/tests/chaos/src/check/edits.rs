//! I10: after a disable, a pause or a delete was answered, no run of the job is marked until it is enabled again.

use std::collections::BTreeMap;

use super::unclear::settled_at;
use super::{Figure, Findings};
use crate::clock::Millis;
use crate::record::{Call, History, Op, Outcome, rows};

/// What two readings of the same host's clock may differ by, with the rounding of both.
const CLOCK_ERROR: Millis = 50;

pub fn check(history: &History, findings: &mut Findings) {
    let mut calls: BTreeMap<i64, Vec<&Call>> = BTreeMap::new();
    for call in history.calls.iter().filter(|call| !call.op.is_about_a_run()) {
        calls.entry(call.job).or_default().push(call);
    }
    for (job, mut calls) in calls {
        calls.sort_by_key(|call| call.invoked_at);
        for (number, call) in calls.iter().enumerate() {
            let ends_at = match call.op {
                _ if call.outcome != Outcome::Ok => None,
                Op::Disable | Op::Delete => Some(Millis::MAX),
                Op::Pause { until } => Some(until),
                _ => None,
            };
            // One that was sent before and took effect afterwards.
            let may_be_enabled = calls[..number].iter().any(|before| {
                matches!(before.op, Op::Edit { .. } | Op::Enable)
                    && before.outcome == Outcome::Unclear
                    && settled_at(history, before) >= call.invoked_at
            });
            if let Some(ends_at) = ends_at.filter(|_| !may_be_enabled) {
                let until = calls.get(number + 1).map_or(ends_at, |next| next.invoked_at.min(ends_at));
                marked_between(history, job, call.returned_at + CLOCK_ERROR, until, findings);
            }
        }
    }
}

fn marked_between(history: &History, job: i64, from: Millis, until: Millis, findings: &mut Findings) {
    let of_schedule = history.runs.iter().filter(|run| run.job_id == job && run.cause == rows::SCHEDULE);
    for run in of_schedule {
        if run.marked_at.is_some_and(|at| (from..until).contains(&at)) {
            findings.add(Figure::MarkedAfterDisable, || format!("disabled at {from} at the latest: {run:?}"));
        }
    }
}
