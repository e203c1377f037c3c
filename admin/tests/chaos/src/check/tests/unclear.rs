//! Requests whose client gave up: what may be, what must be, and until when.

use super::*;

#[test]
fn a_call_without_an_answer_makes_its_instants_optional_not_required() {
    let unclear = |outcome| {
        move |history: &mut History| {
            let call = Call { outcome, ..disable(1, 11_000) };
            history.calls.insert(0, call);
            history.runs.retain(|run| run.job_id != 1 || run.fire_no < 14_000);
            history.events.retain(|event| event.job != 1 || event.at < 14_000);
        }
    };
    assert_flagged(&[], unclear(Outcome::Unclear));
    assert_flagged(&[Figure::MissedUnrecorded, Figure::Missed], unclear(Outcome::Fail));
    // What was planned for a moment after the answer was marked all the same.
    assert_flagged(&[Figure::MarkedAfterDisable], unclear(Outcome::Ok));
}

/// An edit of job 1 to every three seconds; the node that was asked is paused from a second before.
fn late_edit(history: &mut History, resumed_at: Millis) {
    history.calls.insert(0, Call { op: every(3), returned_at: 10_500, outcome: Outcome::Unclear, ..disable(1, 5_500) });
    history.faults.push(fault(4_500, resumed_at));
    // As those that the load edits: counts say nothing of them.
    history.jobs[0].group = "edited".into();
}

fn every(seconds: i64) -> Op {
    Op::Edit { schedule: Schedule::Rate { seconds, anchor: 0 } }
}

/// From 24 s on, job 1 fires as that edit says.
fn every_three_seconds(history: &mut History) {
    for at in [21_000, 24_000, 27_000] {
        let row = run(1_500 + at / 1_000, 1, at);
        history.events.push(event(What::Receive, &row, at + 10, "e3"));
        history.runs.push(row);
    }
}

fn until(history: &mut History, end: Millis) {
    history.calls.retain(|call| call.job != 1);
    history.calls.push(disable(1, end));
}

#[test]
fn an_unclear_edit_may_take_effect_after_the_next_certain_one_until_its_node_has_served_it() {
    let changed_back = |resumed_at: Millis| {
        move |history: &mut History| {
            until(history, 29_500);
            late_edit(history, resumed_at);
            history.calls.push(Call { op: every(2), ..disable(1, 17_000) });
            every_three_seconds(history);
        }
    };
    assert_flagged(&[], changed_back(19_800));
    // Had its node been resumed long before, the certain edit holds: 21 s and 27 s are no instants of it.
    assert_flagged(&[Figure::MissedUnrecorded, Figure::Phantom], changed_back(6_000));
}

#[test]
fn what_an_unclear_edit_enables_may_be_marked_after_a_disable_until_its_node_has_served_it() {
    let disabled_meanwhile = |resumed_at: Millis| {
        move |history: &mut History| {
            until(history, 29_500);
            late_edit(history, resumed_at);
            history.calls.push(disable(1, 17_000));
            history.runs.retain(|run| run.job_id != 1 || run.fire_no < 17_000);
            history.events.retain(|event| event.job != 1 || event.at < 17_000);
            every_three_seconds(history);
        }
    };
    assert_flagged(&[], disabled_meanwhile(19_800));
    assert_flagged(&[Figure::Phantom, Figure::MarkedAfterDisable], disabled_meanwhile(6_000));
}

#[test]
fn a_fault_of_another_node_holds_no_request() {
    let call = Call { outcome: Outcome::Unclear, ..disable(1, 5_500) };
    let settled = |target: &str, class, node: Option<&str>| {
        let mut history = flawless();
        history.faults.push(Fault { target: target.into(), class, ..fault(4_500, 20_000) });
        // Begins while the node may still be busy with what waited for the first one.
        history.faults.push(fault(29_000, 31_000));
        let node = node.map(str::to_owned);
        let call = Call { node, ..call.clone() };
        crate::check::unclear::settled_at(&history, &call)
    };
    let alone = call.invoked_at + 10_000;
    assert_eq!(settled("a1", Class::Holder, Some("a1")), 41_000);
    assert_eq!(settled("database", Class::Database, Some("a1")), 41_000);
    assert_eq!(settled("a2", Class::Holder, None), 41_000);
    assert_eq!(settled("a2", Class::Holder, Some("a1")), alone);
    assert_eq!(settled("e1", Class::Executor, Some("a1")), alone);
}

#[test]
fn an_unclear_disable_may_take_effect_after_an_enable() {
    let failed_after = |enabled_at: Millis| {
        move |history: &mut History| {
            history.forget(2_020, &[What::Acked, What::End]);
            history.row(2_020).state = State::Failed;
            history.calls.push(Call { outcome: Outcome::Unclear, ..disable(2, 2_500) });
            history.calls.push(Call { op: Op::Enable, ..disable(2, enabled_at) });
        }
    };
    let flags = |change| flagged(change).contains(&Figure::RetryMissing);
    assert!(!flags(failed_after(5_000)));
    assert!(flags(failed_after(14_000)));
}
