//! How often an item was executed, and when: by the clock of the executors alone.

use super::evidence::Evidence;
use super::{CLOCK_ERROR, Map, is_prompt};
use crate::check::index::Index;
use crate::check::{Figure, Findings};
use crate::clock::Millis;
use crate::record::{Event, RunRow, State};

/// A request that was read before a success was stored has been received by then: no fault keeps one back for longer.
const ON_ITS_WAY: Millis = 20_000;

pub fn check(map: &Map<'_>, evidence: &Evidence<'_>, index: &Index<'_>, findings: &mut Findings) {
    for item in &map.items {
        let starts = evidence.starts(map.row.run_id, item.item);
        findings.total("item_starts", starts.len());
        twice(map, starts, index, findings);
        for start in starts {
            one_start(map, item.item, start, evidence, findings);
        }
        again(map, item.item, starts, evidence, index, findings);
    }
    reduce(map, evidence, index, findings);
}

/// Once in one delivery, and once at all if the job has no retries.
fn twice(map: &Map<'_>, starts: &[&Event], index: &Index<'_>, findings: &mut Findings) {
    let may_repeat = index.retries(map.root.job_id) > 0;
    for (number, start) in starts.iter().enumerate() {
        let before = starts[..number].iter().find(|before| !may_repeat || before.run == start.run);
        if let Some(before) = before {
            findings.add(Figure::ItemTwice, || format!("{start:?} after {before:?}"));
        }
    }
}

fn one_start(map: &Map<'_>, item: i64, start: &Event, evidence: &Evidence<'_>, findings: &mut Findings) {
    let run = map.runs.iter().find(|run| run.id == start.run);
    let carries = |run: &&&RunRow| map.delivery_of(item).is_some_and(|delivery| delivery.delivery == run.part);
    if run.filter(carries).is_none() {
        findings.add(Figure::Phantom, || format!("its delivery does not carry it: {start:?} {run:?}"));
    }
    if evidence.succeeded_at(map.root.id).is_none_or(|at| start.at < at - CLOCK_ERROR) {
        findings.add(Figure::ItemEarly, || format!("before the success of {:?}: {start:?}", map.root));
    }
    if evidence.result_acked_at(start.run).is_some_and(|at| start.at > at + CLOCK_ERROR) {
        findings.add(Figure::ItemAfterEnd, || format!("the result of its delivery was taken: {start:?}"));
    }
}

/// A further attempt has only the items without a success.
fn again(
    map: &Map<'_>,
    item: i64,
    starts: &[&Event],
    evidence: &Evidence<'_>,
    index: &Index<'_>,
    findings: &mut Findings,
) {
    let attempts = map.delivery_of(item).into_iter().flat_map(|delivery| map.runs_of(delivery.delivery));
    let Some(acked) = attempts.filter_map(|run| evidence.success_acked_at(run.id, item)).min() else { return };
    for start in starts {
        if index.first_receipt(start.run).is_some_and(|at| at > acked + ON_ITS_WAY) {
            findings.add(Figure::ItemTwice, || format!("its success was taken at {acked}: {start:?}"));
        }
    }
}

/// Results are read when all deliveries have ended, but for those that were given up.
fn reduce(map: &Map<'_>, evidence: &Evidence<'_>, index: &Index<'_>, findings: &mut Findings) {
    let received = map.runs_of(0).filter_map(|run| index.first_receipt(run.id));
    let Some(received) = received.min() else { return };
    findings.total("reduces", 1);
    let is_last = |run: &RunRow| map.runs_of(run.part).all(|other| other.attempt <= run.attempt);
    let was_known = |run: &&RunRow| matches!(run.state, State::Succeeded | State::Failed) && is_prompt(run);
    for run in map.runs.iter().copied().filter(|run| run.part > 0 && is_last(run)).filter(was_known) {
        // The answer to its result says less: it may be lost, and come with the next try.
        if evidence.last_end_of(run.id).is_some_and(|at| at > received + CLOCK_ERROR) {
            findings.add(Figure::ItemEarly, || format!("results were read at {received}, before the end of {run:?}"));
        }
    }
    if let Some(first) = map.runs_of(0).find(|run| run.attempt == 1 && Some(run.id) != map.row.reduce_run_id) {
        findings.add(Figure::ItemTwice, || format!("{first:?} is not what reads the results of {:?}", map.row));
    }
}
