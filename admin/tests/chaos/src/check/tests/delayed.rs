//! Delayed triggers: one run each, at the time that was asked for last.

use super::*;
use crate::record::rows;

const TRIGGER: i64 = 1 << 52;
const RUN: i64 = 5_000;

/// A trigger of job 1 that was asked for at 3 s, for 9 s.
fn delayed(history: &mut History) {
    history.calls.push(call(Op::Delay { at: 9_000 }, 3_000));
    let mut row = run(RUN, 1, 9_000);
    (row.cause, row.fire_no) = (rows::DELAYED, TRIGGER);
    for (what, after) in
        [(What::Receive, 10), (What::Answer, 12), (What::Start, 12), (What::End, 30), (What::Acked, 40)]
    {
        history.events.push(event(what, &row, 9_000 + after, "e3"));
    }
    history.runs.push(row);
}

fn call(op: Op, at: Millis) -> Call {
    Call { op, run: Some(TRIGGER), ..disable(1, at) }
}

/// Of a run that was never sent.
fn cancelled(history: &mut History) {
    delayed(history);
    history.forget(RUN, &ALL);
    let row = history.row(RUN);
    (row.state, row.sends, row.scheduled_at) = (State::Cancelled, 0, 4_000);
    (row.marked_at, row.reason) = (None, Some("operator".into()));
}

#[test]
fn a_trigger_becomes_one_run_at_its_time() {
    assert_flagged(&[], delayed);
    let mut history = flawless();
    delayed(&mut history);
    assert_eq!(check(&history).totals["delayed"], 1);
    assert_flagged(&[Figure::DelayedMissing], |history| {
        delayed(history);
        history.runs.retain(|run| run.id != RUN);
        history.events.retain(|event| event.run != RUN);
    });
    assert_flagged(&[Figure::AloExcess, Figure::AttemptGap, Figure::DelayedTwice], |history| {
        delayed(history);
        let mut other = history.row(RUN).clone();
        (other.id, other.state, other.sends) = (RUN + 1, State::Failed, 0);
        history.runs.push(other);
    });
    assert_flagged(&[Figure::Early], |history| {
        delayed(history);
        let receipt = history.events.iter_mut().find(|event| event.run == RUN && event.what == What::Receive);
        receipt.unwrap().at = 8_900;
    });
    assert_flagged(&[Figure::Late], |history| {
        delayed(history);
        let of_run = history.events.iter_mut().filter(|event| event.run == RUN);
        of_run.for_each(|event| event.at += 6_000);
    });
}

#[test]
fn a_trigger_that_was_moved_has_its_last_time() {
    let moved = |history: &mut History, outcome: Outcome, to: Millis| {
        delayed(history);
        history.calls.push(Call { outcome, ..call(Op::Move { at: to }, 4_000) });
    };
    assert_flagged(&[Figure::DelayedTime], |history| moved(history, Outcome::Ok, 12_000));
    assert_flagged(&[], |history| moved(history, Outcome::Ok, 9_000));
    // Refused: it has the time of before. Unclear: it may have either.
    assert_flagged(&[], |history| moved(history, Outcome::Fail, 12_000));
    assert_flagged(&[], |history| moved(history, Outcome::Unclear, 12_000));
}

#[test]
fn a_trigger_that_was_cancelled_is_not_sent() {
    let cancel = |never_sent| call(Op::Cancel { never_sent }, 4_000);
    assert_flagged(&[], |history| {
        cancelled(history);
        history.calls.push(cancel(true));
    });
    assert_flagged(&[Figure::DelayedCancel], cancelled);
    assert_flagged(&[Figure::DelayedCancel], |history| {
        delayed(history);
        history.calls.push(cancel(true));
    });
    // The run had been sent, and went on to its end.
    assert_flagged(&[], |history| {
        delayed(history);
        history.calls.push(cancel(false));
    });
}

#[test]
fn a_run_of_no_trigger_is_allowed_only_if_a_request_was_unclear() {
    let without_number = |history: &mut History, outcome: Outcome| {
        delayed(history);
        let call = history.calls.last_mut().unwrap();
        (call.outcome, call.run) = (outcome, None);
    };
    assert_flagged(&[], |history| without_number(history, Outcome::Unclear));
    assert_flagged(&[Figure::Phantom], |history| without_number(history, Outcome::Fail));
}
