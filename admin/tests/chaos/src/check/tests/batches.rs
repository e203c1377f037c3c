//! A batch whose answer was cut: what the engine may make of its runs, and what not.

use super::*;

/// Run 2008 was passed on to the executor and run 2010 was not; both were asked about again.
fn cut(history: &mut History) {
    for (run, at, state) in [(2_008, 8_010, "passed on"), (2_010, 10_010, "kept back")] {
        let row = history.row(run).clone();
        history.events.push(Event { state: state.into(), ..event(What::Cut, &row, at, "e1") });
        history.row(run).sends = 2;
    }
    history.forget(2_008, &[What::Answer]);
    history.again(What::Receive, 2_008, 18_500, "e1");
    for received in history.events.iter_mut().filter(|it| it.run == 2_010 && it.what != What::Cut) {
        received.at += 10_000;
    }
}

fn assert_cut(expected: &[Figure], change: impl FnOnce(&mut History)) {
    assert_flagged(expected, |history| {
        cut(history);
        history.faults.push(Fault { name: "batch_answer_cut".into(), target: "e1".into(), ..fault(8_000, 10_100) });
        change(history);
    });
}

#[test]
fn each_run_is_asked_about_and_runs_once() {
    assert_cut(&[], |_| ());
}

#[test]
fn a_run_that_is_sent_as_a_new_one_starts_twice() {
    assert_cut(&[Figure::StartedTwice], |history| history.again(What::Start, 2_008, 18_600, "e1"));
}

#[test]
fn a_run_that_is_given_up_is_found_unless_it_may_not_be_sent_again() {
    let give_up = |history: &mut History| {
        let row = history.row(2_010);
        (row.state, row.sends, row.reason, row.result_code) = (State::Unknown, 1, Some("unknown".into()), None);
        history.forget(2_010, &ALL);
        // Not followed by a retry here.
        history.jobs[1].retries = 0;
    };
    assert_cut(&[Figure::CutUnresolved], give_up);
    assert_cut(&[], |history| {
        give_up(history);
        let op = Op::Edit { schedule: history.jobs[1].schedule.clone() };
        history.calls.push(Call { op, ..disable(2, 10_020) });
    });
    assert_cut(&[], |history| {
        give_up(history);
        let wiped = Fault { name: "executor_wiped".into(), target: "e1".into(), ..fault(12_000, 14_000) };
        history.faults.push(wiped);
    });
}

#[test]
fn the_half_that_never_arrived_is_no_success() {
    assert_cut(&[Figure::SilentLoss, Figure::PhantomResult], |history| history.forget(2_010, &ALL));
}
