//! Nodes that end: in order, by a fault, or by themselves.

use super::*;
use crate::record::Exit;

fn exit(how: &str, why: &str, took_ms: i64) -> Exit {
    Exit { process: "a1".into(), at: 5_000, how: how.into(), why: why.into(), took_ms }
}

#[test]
fn nodes_that_do_not_end_in_order() {
    for (how, why, took_ms) in [("signal 11", "by itself", 0), ("exit 0", "SIGTERM", 15_500), ("exit 1", "stop", 10)] {
        assert_flagged(&[Figure::BadExit], |history| history.exits.push(exit(how, why, took_ms)));
    }
    assert_flagged(&[], |history| history.exits.push(exit("signal 9", "kill -9", 2)));
}

#[test]
fn a_node_that_stops_may_be_ended_by_the_failpoint_that_was_armed_at_it() {
    let stopped = |name: &'static str, target: &'static str, to: Millis| {
        move |history: &mut History| {
            history.exits.push(exit("signal 6", "SIGTERM", 500));
            history.faults.push(Fault { name: name.into(), target: target.into(), ..fault(1_000, to) });
        }
    };
    assert_flagged(&[], stopped("abort_after_map_commit", "a1", 6_000));
    for (name, target, to) in
        [("abort_after_map_commit", "a2", 6_000), ("abort_after_map_commit", "a1", 4_000), ("slow_loris", "a1", 6_000)]
    {
        assert_flagged(&[Figure::BadExit], stopped(name, target, to));
    }
}

#[test]
fn a_node_may_end_at_its_start_while_the_database_is_away_and_say_so() {
    let at_start = |how: &'static str, target: &'static str, to: Millis| {
        move |history: &mut History| {
            history.exits.push(exit(how, "start", 0));
            history.faults.push(Fault { class: Class::Database, target: target.into(), ..fault(-18_000, to) });
        }
    };
    assert_flagged(&[], at_start("exit 1", "database", 4_000));
    assert_flagged(&[], at_start("exit 1", "a1", -4_000));
    for (how, target, to) in [
        ("exit 101", "database", 4_000),
        ("signal 11", "database", 4_000),
        ("exit 2", "database", 4_000),
        ("exit 1", "a2", 4_000),
        ("exit 1", "database", -11_000),
    ] {
        assert_flagged(&[Figure::BadExit], at_start(how, target, to));
    }
}
