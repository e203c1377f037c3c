//! What faults allow that follow each other, or that hold a request until they end.

use super::*;
use crate::samples::{STALL, SUITE};

/// Job 1's instants from 8 s to 16 s all came at 16.5 s.
fn backlog(history: &mut History) {
    let late = |event: &&mut Event| event.job == 1 && (8_000..16_500).contains(&event.at);
    for event in history.events.iter_mut().filter(late) {
        event.at = 16_500;
    }
    history.events.sort_by_key(|event| event.at);
}

const TOO_LATE: [Figure; 3] = [Figure::Extra, Figure::Missed, Figure::Late];

#[test]
fn a_kill_that_strikes_an_instant_while_it_waits_adds_to_the_first() {
    let killed_again = |from: Millis| {
        move |history: &mut History| {
            backlog(history);
            history.faults.push(fault(7_900, 8_100));
            history.faults.push(fault(from, from + 200));
        }
    };
    // A lease of 3 s, and 3 s: the first bound ends at 14 s.
    assert_flagged(&[], killed_again(13_500));
    assert_flagged(&TOO_LATE, killed_again(14_500));
}

#[test]
fn a_fault_of_another_class_only_delays_what_waits_for_a_take_over() {
    let then = |class| {
        move |history: &mut History| {
            backlog(history);
            history.faults.push(fault(7_900, 8_100));
            history.faults.push(Fault { class, ..fault(13_000, 13_400) });
        }
    };
    assert_flagged(&[], then(Class::Executor));
    assert_flagged(&[], then(Class::Database));
    assert_flagged(&TOO_LATE, then(Class::Harmless));
}

#[test]
fn a_machine_that_stalls_widens_the_bounds_of_all_checks_alike() {
    assert_flagged(&TOO_LATE, |history| {
        backlog(history);
        history.faults.push(fault(7_900, 8_100));
    });
    assert_flagged(&[], |history| {
        backlog(history);
        history.faults.push(fault(7_900, 8_100));
        let stalled = |second: Millis| Sample {
            at: second * 1_000,
            process: SUITE.into(),
            rss_kib: 0,
            descriptors: 0,
            metrics: BTreeMap::from([(STALL.to_owned(), 3_000.0)]),
        };
        history.samples = (7..20).map(stalled).collect();
    });
}

#[test]
fn a_paused_executor_receives_when_it_goes_on() {
    let paused_for = |lasts: Millis| {
        move |history: &mut History| {
            let received = history.events.iter_mut().find(|event| event.run == 2_008);
            received.unwrap().at = 17_100;
            history.faults.push(Fault { class: Class::Executor, target: "e1".into(), ..fault(7_000, 7_000 + lasts) });
        }
    };
    assert_flagged(&[], paused_for(10_000));
    assert_flagged(&[Figure::Late], paused_for(5_000));
}

#[test]
fn a_job_that_has_just_been_created_may_be_late_for_its_first_instant() {
    let created_at = |created_at: Millis| {
        move |history: &mut History| {
            history.jobs[0].created_at = created_at;
            // Its first run, at 2 s.
            for event in history.events.iter_mut().filter(|event| event.run == 1_002) {
                event.at += 1_600;
            }
            history.events.sort_by_key(|event| event.at);
        }
    };
    assert_flagged(&[], created_at(1_800));
    assert_flagged(&[Figure::Late], created_at(-2_000));
}

#[test]
fn a_run_whose_service_cuts_connections_may_leave_until_the_threshold_of_its_job() {
    let late_by = |late: Millis| {
        move |history: &mut History| {
            is_cut_off(history);
            history.delay(1_020, late);
        }
    };
    assert_flagged(&[], late_by(5_500));
    assert_flagged(&[Figure::Late], late_by(6_500));
}

#[test]
fn a_run_whose_service_cuts_connections_is_passed_by_no_later_one() {
    let late = |history: &mut History| {
        is_cut_off(history);
        history.delay(1_008, 2_500);
    };
    assert_flagged(&[Figure::Late], late);
    assert_flagged(&[], |history| {
        late(history);
        history.delay(1_010, 600);
    });
    assert_flagged(&[], |history| {
        late(history);
        history.faults.push(fault(9_000, 9_100));
    });
}

#[test]
fn a_run_that_was_not_sent_to_such_a_service_is_passed_by_no_later_one() {
    let given_up_at = |at: Millis| {
        move |history: &mut History| {
            is_cut_off(history);
            history.give_up(1_008, at);
        }
    };
    assert_flagged(&[Figure::Late], given_up_at(13_000));
    assert_flagged(&[], given_up_at(10_100));
}

#[test]
fn a_run_is_not_given_up_while_its_node_tries_such_a_service_never() {
    let given_up = |changed: fn(&mut History)| {
        move |history: &mut History| {
            is_cut_off(history);
            history.give_up(1_020, 25_000);
            changed(history);
        }
    };
    assert_flagged(&[Figure::Late], given_up(|_| ()));
    assert_flagged(&[], given_up(|history| history.faults.push(fault(22_000, 22_100))));
    assert_flagged(&[], given_up(|history| history.delay(1_018, 3_000)));
}

fn is_cut_off(history: &mut History) {
    history.jobs[0].group = "http_cut".into();
    history.jobs[0].draft = serde_json::json!({"misfire_threshold_seconds": 5});
}
