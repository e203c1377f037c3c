//! I2 and I5: what was received was declared before, and no more often than the job allows.

use std::collections::BTreeMap;

use super::index::{Index, Receipt};
use super::targets::Targets;
use super::{Figure, Findings};
use crate::clock::Millis;
use crate::record::{Event, History, Outcome, RunRow, State, What};

pub fn check(history: &History, targets: &BTreeMap<i64, Targets>, index: &Index<'_>, findings: &mut Findings) {
    for run in &history.runs {
        one_run(run, index, findings);
    }
    for (key, rows) in &index.fires {
        one_fire(key, rows, index, findings);
    }
    for (run, receipts) in &index.receipts {
        // An answer may be written for a request of before the books were opened; receipts are what counts.
        if !index.rows.contains_key(run) && !receipts.is_empty() {
            findings.add(Figure::OrphanReceipt, || format!("run {run}: {:?}", receipts[0].event));
        }
    }
    silent(history, targets, index, findings);
    cut(history, index, findings);
    states(history, findings);
}

fn one_run(run: &RunRow, index: &Index<'_>, findings: &mut Findings) {
    let receipts = index.receipts_of(run.id);
    if receipts.len() as i64 > run.sends {
        findings.add(Figure::UndeclaredSend, || format!("{} receipts, {} sends: {run:?}", receipts.len(), run.sends));
    }
    if run.sends > 1 {
        findings.total("resends", (run.sends - 1) as usize);
    }
    let starts = index.starts.get(&run.id).map_or(&[][..], Vec::as_slice);
    let own = starts.iter().filter(|start| index.own.contains(&*start.executor)).count();
    if own > 1 {
        findings.add(Figure::StartedTwice, || format!("{own} starts: {run:?}"));
    }
    // A request that another process has cut off was still received: only one without any is a result of nothing.
    let is_flow = index.group(run.job_id) == "flow";
    if run.state == State::Succeeded && receipts.is_empty() && !is_flow {
        findings.add(Figure::PhantomResult, || format!("{run:?}"));
    }
}

/// What may have run of a fire: an executor that suppresses repeats counts once, any other for each request that it
/// did not refuse.
fn deliveries(rows: &[&RunRow], index: &Index<'_>) -> usize {
    let of_run = |run: &&RunRow| {
        let taken: Vec<&Receipt<'_>> =
            index.receipts_of(run.id).iter().filter(|receipt| !receipt.is_refused()).collect();
        let own: std::collections::HashSet<&str> = taken
            .iter()
            .map(|receipt| &*receipt.event.executor)
            .filter(|executor| index.own.contains(executor))
            .collect();
        let stock = taken.iter().filter(|receipt| !index.own.contains(&*receipt.event.executor));
        own.len() + stock.count()
    };
    rows.iter().map(of_run).sum()
}

fn one_fire(key: &str, rows: &[&RunRow], index: &Index<'_>, findings: &mut Findings) {
    let Some(first) = rows.first() else { return };
    let (delivered, retries) = (deliveries(rows, index), index.retries(first.job_id));
    let what = || format!("{key}: {delivered} deliveries, {} attempts, {retries} retries: {rows:?}", rows.len());
    if retries == 0 && delivered > 1 {
        findings.add(Figure::AmoDuplicate, what);
    } else if delivered > rows.len() || rows.len() as i32 > 1 + retries {
        findings.add(Figure::AloExcess, what);
    }
    if delivered > 0 {
        findings.total("delivered", 1);
    }
}

/// A required instant that no executor received says why.
fn silent(history: &History, targets: &BTreeMap<i64, Targets>, index: &Index<'_>, findings: &mut Findings) {
    for run in history.runs.iter().filter(|run| run.is_first_of_instant()) {
        let required = targets.get(&run.job_id).is_some_and(|targets| targets.required.contains(&run.fire_no));
        // Two apps have executors that keep no books, and no executor has a workflow.
        let no_books = matches!(index.group(run.job_id), "hang" | "hole" | "flow");
        let rows = index.fires.get(&run.fire_key()).map_or(&[][..], Vec::as_slice);
        if !required || no_books || rows.iter().any(|row| !index.receipts_of(row.id).is_empty()) {
            continue;
        }
        let says_why = run.reason.as_deref().is_some_and(|reason| !reason.is_empty());
        let open_to_reason =
            matches!(run.state, State::Failed | State::Unknown | State::Lost | State::Cancelled | State::Killed);
        if !(says_why && open_to_reason) {
            findings.add(Figure::SilentLoss, || format!("{run:?}"));
        }
    }
}

/// An executor of ours knows the runs that it has read, and says of the others that they have not begun: each run of a cut batch
/// comes to an end. One that lost its journal cannot be asked, and a run of a job that was changed meanwhile may not be sent again.
fn cut(history: &History, index: &Index<'_>, findings: &mut Findings) {
    let was_wiped = |event: &Event| {
        let mut faults = history.faults.iter();
        faults.any(|it| it.name == "executor_wiped" && it.target == event.executor && it.to >= event.at)
    };
    for event in history.events.iter().filter(|event| event.what == What::Cut) {
        findings.total("cut", 1);
        let Some(run) = index.rows.get(&event.run) else { continue };
        let ended_at = run.finished_at.unwrap_or(Millis::MAX);
        let was_changed = history.calls.iter().any(|call| {
            call.job == run.job_id
                && !call.op.is_about_a_run()
                && call.outcome != Outcome::Fail
                && (event.at..=ended_at).contains(&call.invoked_at)
        });
        if matches!(run.state, State::Unknown | State::Lost) && !was_wiped(event) && !was_changed {
            findings.add(Figure::CutUnresolved, || format!("{}: {run:?}", event.state));
        }
    }
}

fn states(history: &History, findings: &mut Findings) {
    for run in &history.runs {
        let name = match run.state {
            State::Unknown => "unknown",
            State::Lost => "lost",
            State::Failed => "failed_with_reason",
            State::Succeeded => "succeeded",
            State::Cancelled => "cancelled",
            _ => continue,
        };
        findings.total(name, 1);
    }
}
