//! Loops: one executor at a moment, one start of an executor for each epoch, and no gap that faults do not allow.

use super::*;
use crate::record::Fire;

const PERIOD: Millis = 100;
const CHECKED: Millis = END + 1_500;

/// Calls of the executor under this epoch in a time, in their order.
fn call(history: &mut History, executor: &str, epoch: i64, from: Millis, to: Millis) {
    for at in (from..to).step_by(PERIOD as usize) {
        history.fires.push(fire(executor, epoch, at, at));
    }
}

/// Seen later than what it was called for.
fn fire(executor: &str, epoch: i64, instant: Millis, at: Millis) -> Fire {
    let (executor, boot) = (executor.to_owned(), format!("{executor}-1"));
    Fire { mono_us: at * 1_000, at, executor, boot, job: 70, epoch, instant }
}

/// e1 has the loop until the first moment, and e2 from the second one on.
fn handed_over(history: &mut History, until: Millis, from: Millis) {
    let draft = serde_json::json!({"durability": "best_effort", "schedule": {"milliseconds": PERIOD}});
    history.jobs.push(Job { group: "loop".into(), schedule: Schedule::None, draft, ..job(70, 0) });
    call(history, "e1", 1, 500, until);
    call(history, "e2", 2, from, CHECKED);
}

fn of(name: &str, class: Class, target: &str, from: Millis, to: Millis) -> Fault {
    Fault { name: name.into(), class, target: target.into(), ..fault(from, to) }
}

fn killed(target: &str) -> Fault {
    of("loop_executor_killed", Class::Executor, target, 8_000, 8_500)
}

fn stopped() -> Fault {
    of("loop_executor_stopped", Class::Executor, "e1", 8_000, 18_000)
}

/// Handed over from e1, whose last call is 8 s after the start, at this moment, beside these faults.
#[track_caller]
fn assert_gap(expected: &[Figure], resumed: Millis, faults: Vec<Fault>) {
    assert_flagged(expected, |history| {
        handed_over(history, 8_001, resumed);
        history.faults = faults;
    });
}

#[test]
fn a_loop_that_is_handed_over_in_order_is_no_anomaly() {
    assert_gap(&[], 8_200, vec![]);
    let mut history = flawless();
    handed_over(&mut history, 8_001, 8_200);
    let totals = check(&history).totals;
    let names = ["loop_calls", "loop_grants", "loop_longest_gap_ms"];
    assert_eq!(names.map(|name| totals[name]), [76 + 133, 2, 200]);
}

#[test]
fn two_executors_at_one_moment_are_found() {
    assert_flagged(&[Figure::LoopTwice], |history| {
        handed_over(history, 8_001, 8_200);
        history.fires.push(fire("e1", 1, 8_250, 8_250));
    });
    // As long as the next grant has no call, the last one may go on.
    assert_flagged(&[], |history| {
        handed_over(history, 8_001, 8_200);
        history.fires.push(fire("e1", 1, 8_150, 8_150));
    });
}

#[test]
fn one_epoch_on_two_executors_is_found() {
    assert_flagged(&[Figure::LoopEpoch], |history| {
        handed_over(history, 8_001, 8_200);
        history.fires.iter_mut().for_each(|fire| fire.epoch = 1);
    });
    // So is another start of the same one.
    assert_flagged(&[Figure::LoopEpoch], |history| {
        handed_over(history, CHECKED, CHECKED);
        history.fires.last_mut().unwrap().boot = "e1-2".into();
    });
}

#[test]
fn a_call_that_was_begun_before_a_pause_is_told_from_one_after_it() {
    let called_after = |instant: Millis| {
        move |history: &mut History| {
            handed_over(history, 8_001, 13_900);
            history.faults.push(stopped());
            history.fires.push(fire("e1", 1, instant, 18_003));
        }
    };
    assert_flagged(&[], called_after(8_000));
    assert_flagged(&[Figure::LoopTwice], called_after(18_000));
}

#[test]
fn a_loop_goes_on_when_the_lease_of_its_executor_is_over() {
    // The lease, a second, and two periods.
    assert_gap(&[], 14_200, vec![killed("e1")]);
    assert_gap(&[Figure::LoopGap], 14_300, vec![killed("e1")]);
    assert_gap(&[], 14_200, vec![stopped()]);
    assert_gap(&[Figure::LoopGap], 14_300, vec![stopped()]);
    let cut = |target| of("loop_renewal_cut", Class::Harmless, target, 8_000, 18_000);
    assert_gap(&[], 14_200, vec![cut("e1")]);
    assert_gap(&[Figure::LoopGap], 14_300, vec![cut("e1")]);
    // The change of the job takes a second more.
    let delayed = of("loop_grant_delayed", Class::Harmless, "loops", 8_000, 18_000);
    assert_gap(&[], 15_200, vec![delayed.clone()]);
    assert_gap(&[Figure::LoopGap], 15_300, vec![delayed]);
}

#[test]
fn a_loop_does_not_stand_still_without_a_reason() {
    assert_gap(&[Figure::LoopGap], 9_000, vec![]);
    assert_gap(&[Figure::LoopGap], 9_000, vec![killed("e2")]);
    assert_gap(&[Figure::LoopGap], 9_000, vec![killed("e3")]);
    assert_gap(&[Figure::LoopGap], 9_000, vec![of("answer_lost_own", Class::Executor, "e1", 8_000, 9_000)]);
    assert_gap(&[Figure::LoopGap], 9_000, vec![of("logins", Class::Harmless, "a1", 8_000, 9_000)]);
    // Over before it.
    assert_gap(&[Figure::LoopGap], 9_000, vec![of("loop_executor_killed", Class::Executor, "e1", 1_000, 1_500)]);
}

#[test]
fn faults_of_nodes_executors_and_the_database_add_their_bounds() {
    let node = |from| of("admin_kill", Class::Holder, "a1", from, from + 2_000);
    // Alone it takes no loop away; nodes and the database are promised to recover within the lease of nodes and 3 s.
    assert_gap(&[Figure::LoopGap], 15_500, vec![node(8_000)]);
    assert_gap(&[], 15_500, vec![killed("e1"), node(8_000)]);
    assert_gap(&[], 18_000, vec![killed("e1"), killed("e2")]);
    assert_gap(&[], 18_000, vec![of("db_stop", Class::Database, "database", 8_000, 10_000)]);
    // One that begins when the loop should have gone on does not count.
    assert_gap(&[Figure::LoopGap], 19_000, vec![killed("e1"), node(14_300)]);
}

#[test]
fn a_loop_that_never_goes_on_is_found() {
    assert_gap(&[Figure::LoopGap], CHECKED, vec![killed("e1")]);
    assert_flagged(&[Figure::LoopGap], |history| {
        handed_over(history, CHECKED, CHECKED);
        history.fires.clear();
    });
}
