//! Pauses that end by themselves: nothing is marked meanwhile, and each instant is recorded once.

use super::*;

/// Job 1 is paused from 9.5 s to 15 s: 10 s, 12 s and 14 s are due meanwhile.
fn pause(history: &mut History) {
    history.jobs[0].group = "resting".into();
    history.calls.insert(0, Call { op: Op::Pause { until: 15_000 }, ..disable(1, 9_500) });
}

fn is_due_in_pause(run: &RunRow) -> bool {
    run.job_id == 1 && (9_500..15_000).contains(&run.fire_no)
}

#[test]
fn what_is_marked_in_a_pause_is_found() {
    assert_flagged(&[Figure::MarkedAfterDisable], pause);
}

#[test]
fn what_was_due_in_a_pause_may_run_after_it() {
    assert_flagged(&[], |history| {
        pause(history);
        for run in history.runs.iter_mut().filter(|run| is_due_in_pause(run)) {
            run.marked_at = Some(15_100);
        }
        for event in history.events.iter_mut().filter(|event| event.job == 1 && (9_500..15_000).contains(&event.at)) {
            event.at = 15_200;
        }
        history.events.sort_by_key(|event| event.at);
    });
}

#[test]
fn what_was_due_in_a_pause_must_be_recorded() {
    let skipped = |count| {
        move |history: &mut History| {
            pause(history);
            history.runs.retain(|run| !is_due_in_pause(run));
            history.events.retain(|event| event.job != 1 || !(9_500..15_000).contains(&event.at));
            if count > 0 {
                history.misfires.push(range(1, 10_000, 14_000, count));
            }
        }
    };
    assert_flagged(&[], skipped(3));
    assert_flagged(&[Figure::Phantom], skipped(2));
    assert_flagged(&[Figure::MissedUnrecorded], skipped(0));
}

#[test]
fn what_leaves_after_a_pause_is_judged_by_the_faults_of_then() {
    let sent_late = |is_slow: bool| {
        move |history: &mut History| {
            history.jobs[0] = Job { group: "resting".into(), created_at: -10_000, ..history.jobs[0].clone() };
            history.calls.insert(0, Call { op: Op::Pause { until: 9_500 }, ..disable(1, 1_500) });
            for run in history.runs.iter_mut().filter(|run| run.job_id == 1 && run.fire_no == 2_000) {
                run.marked_at = Some(16_900);
            }
            for run in history.runs.iter_mut().filter(|run| run.job_id == 1 && (4_000..9_500).contains(&run.fire_no)) {
                run.marked_at = Some(9_600);
            }
            for event in history.events.iter_mut().filter(|event| event.job == 1 && (1_500..9_500).contains(&event.at))
            {
                event.at = if event.at < 4_000 { 17_000 } else { 9_700 };
            }
            if is_slow {
                history.faults.push(Fault { class: Class::Database, ..fault(9_000, 16_500) });
            }
            history.events.sort_by_key(|event| event.at);
        }
    };
    assert_flagged(&[], sent_late(true));
    assert_flagged(&[Figure::Late], sent_late(false));
}
