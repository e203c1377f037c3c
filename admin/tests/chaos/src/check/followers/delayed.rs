//! I15: a delayed trigger becomes one run, at the time that was asked for last and never before it; a cancelled one is not sent.
//!
//! What a client was not answered may have been done, at once or later: each time that such a request asked for is right.

use std::collections::{BTreeMap, HashMap};

use crate::check::bounds::Bounds;
use crate::check::index::Index;
use crate::check::lateness::RESOLVED;
use crate::check::unclear::settled_at;
use crate::check::{Figure, Findings};
use crate::clock::{Millis, text};
use crate::record::{Call, History, Op, Outcome, RunRow, State, rows};

/// All on one host: what two clock readings may differ by.
const CLOCK_ERROR: Millis = 20;
/// A request that was answered a moment ago is not on time for what it asks for.
const ASKED_JUST_NOW: Millis = 3_000;
/// A trigger that was due this long before the dump has its run.
const REACHED_WITHIN: Millis = 20_000;

/// What clients have asked of one trigger, in the order of the requests.
type Requests<'a> = Vec<&'a Call>;

pub fn check(history: &History, index: &Index<'_>, bounds: &Bounds<'_>, findings: &mut Findings) {
    let mut runs: HashMap<i64, Vec<&RunRow>> = HashMap::new();
    for run in history.runs.iter().filter(|run| run.cause == rows::DELAYED && run.attempt == 1) {
        runs.entry(run.fire_no).or_default().push(run);
    }
    for (trigger, requests) in of_triggers(history) {
        let found = runs.remove(&trigger).unwrap_or_default();
        findings.total("delayed", 1);
        match found[..] {
            [] => missing(history, trigger, &requests, findings),
            [run] => one_run(history, run, &requests, (index, bounds), findings),
            _ => findings.add(Figure::DelayedTwice, || format!("trigger {trigger}: {found:?}")),
        }
    }
    unknown(history, &runs, findings);
}

fn of_triggers(history: &History) -> BTreeMap<i64, Requests<'_>> {
    let mut all: BTreeMap<i64, Requests<'_>> = BTreeMap::new();
    let is_about_one = |op: &Op| matches!(op, Op::Delay { .. } | Op::Move { .. } | Op::Cancel { .. });
    for call in history.calls.iter().filter(|call| is_about_one(&call.op) && call.outcome != Outcome::Fail) {
        // Without a number it is not known which trigger the request has recorded, if any.
        if let Some(trigger) = call.run {
            all.entry(trigger).or_default().push(call);
        }
    }
    for requests in all.values_mut() {
        requests.sort_by_key(|call| call.invoked_at);
    }
    all
}

/// The times that may hold, each with the moment until which its request may have been served: what had passed by then means that moment.
fn times(history: &History, requests: &[&Call]) -> Vec<(Millis, Millis)> {
    let mut may_hold: Vec<(Millis, Millis)> = vec![];
    for call in requests {
        let (Op::Delay { at } | Op::Move { at }) = call.op else { continue };
        if call.outcome == Outcome::Ok {
            // What was served before this request is replaced by it.
            may_hold.retain(|(_, until)| *until >= call.invoked_at);
        }
        may_hold.push((at, settled_at(history, call)));
    }
    may_hold
}

fn missing(history: &History, trigger: i64, requests: &[&Call], findings: &mut Findings) {
    let last = times(history, requests).into_iter().map(|(at, until)| at.max(until)).max();
    if last.is_some_and(|last| last + REACHED_WITHIN < history.meta.phases.dumped_at) {
        findings.add(Figure::DelayedMissing, || format!("trigger {trigger}: {requests:?}"));
    }
}

fn one_run(
    history: &History,
    run: &RunRow,
    requests: &[&Call],
    (index, bounds): (&Index<'_>, &Bounds<'_>),
    findings: &mut Findings,
) {
    let received = index.first_receipt(run.id);
    if run.state == State::Cancelled {
        findings.total("delayed_cancelled", 1);
    }
    let cancels = || {
        requests.iter().filter_map(|call| if let Op::Cancel { never_sent } = call.op { Some(never_sent) } else { None })
    };
    let is_unasked = matches!(run.state, State::Cancelled | State::Killed) && cancels().next().is_none();
    if is_unasked || cancels().any(|never_sent| never_sent) && (received.is_some() || run.state != State::Cancelled) {
        findings.add(Figure::DelayedCancel, || format!("{run:?}: {requests:?}"));
    }
    let may_hold = times(history, requests);
    let is_right = |(at, until): &(Millis, Millis)| (*at..=(*at).max(until + CLOCK_ERROR)).contains(&run.scheduled_at);
    // The time of one that is cancelled before its time is that of the request.
    if run.state != State::Cancelled && !may_hold.iter().any(is_right) {
        findings.add(Figure::DelayedTime, || format!("{run:?}: {requests:?}"));
    }
    let Some(received) = received else { return };
    if received < run.scheduled_at - CLOCK_ERROR {
        findings.add(Figure::Early, || format!("by {} ms: {run:?}", run.scheduled_at - received));
    }
    late(run, received, requests, bounds, findings);
}

/// No later than a schedule would be, counted from its time or from the request for it.
fn late(run: &RunRow, received: Millis, requests: &[&Call], bounds: &Bounds<'_>, findings: &mut Findings) {
    let answered = requests.iter().map(|call| call.returned_at).max().unwrap_or_default();
    let from = run.scheduled_at.max(answered);
    let again = if run.sends > 1 { RESOLVED } else { 0 };
    let (bound, class) = bounds.of(from, again);
    let (late, bound) = (received - from, bound + ASKED_JUST_NOW);
    // A request of unclear outcome may have been served long after it was given up.
    let is_clear = requests.iter().all(|call| call.outcome == Outcome::Ok);
    if late > bound && is_clear {
        let at = text(run.scheduled_at);
        findings.add(Figure::Late, || {
            format!("by {late} ms, allowed {bound} ({class:?}): delayed at {at}, run {}", run.id)
        });
    }
}

/// Runs of triggers that no client has a number of: at most one for each request whose outcome is unclear.
fn unknown(history: &History, runs: &HashMap<i64, Vec<&RunRow>>, findings: &mut Findings) {
    let mut unclear: HashMap<i64, usize> = HashMap::new();
    for call in history.calls.iter().filter(|call| matches!(call.op, Op::Delay { .. }) && call.run.is_none()) {
        *unclear.entry(call.job).or_default() += usize::from(call.outcome == Outcome::Unclear);
    }
    for run in runs.values().flatten() {
        match unclear.get_mut(&run.job_id) {
            Some(left @ 1..) => *left -= 1,
            _ => findings.add(Figure::Phantom, || format!("no delayed trigger: {run:?}")),
        }
    }
}
