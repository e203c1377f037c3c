//! Timers against a simple model, and the cost of an insert.

use std::collections::BTreeMap;

use carillon_scheduler::Timers;
use proptest::prelude::*;

/// One step: sets a key's timer, cancels it, or lets time pass.
#[derive(Debug, Clone)]
enum Act {
    Insert(u8, i64),
    Cancel(u8),
    Pass(i64),
}

fn act() -> impl Strategy<Value = Act> {
    let delay = prop_oneof![0_i64..70, 0_i64..4_000, 0_i64..400_000];
    let pass = prop_oneof![0_i64..3, 0_i64..200, 0_i64..9_000, 0_i64..300_000];
    prop_oneof![
        4 => (any::<u8>(), delay).prop_map(|(key, delay)| Act::Insert(key, delay)),
        1 => any::<u8>().prop_map(Act::Cancel),
        3 => pass.prop_map(Act::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    // covers: 000-9, 002-21
    #[test]
    fn timers_expire_like_those_of_a_sorted_map(
        start in 0_i64..2_000_000_000, acts in prop::collection::vec(act(), 1..80),
    ) {
        let (mut timers, mut model, mut now) = (Timers::new(), BTreeMap::new(), start);
        for act in acts.into_iter().chain([Act::Pass(1_000_000)]) {
            match act {
                Act::Insert(key, delay) => {
                    prop_assert_eq!(timers.insert(key, now + delay), model.insert(key, now + delay));
                }
                Act::Cancel(key) => prop_assert_eq!(timers.cancel(&key), model.remove(&key)),
                Act::Pass(time) => {
                    now += time;
                    let due: Vec<(u8, i64)> = std::iter::from_fn(|| timers.pop_due(now)).collect();
                    let mut expected: Vec<(u8, i64)> = model.extract_if(.., |_, deadline| *deadline <= now).collect();
                    expected.sort_unstable_by_key(|&(key, deadline)| (deadline, key));
                    prop_assert_eq!(due, expected);
                }
            }
        }
        prop_assert!(timers.is_empty());
    }
}

/// ns for one insert among `size` timers, the fastest of several tries.
fn insert_ns(size: u64) -> u128 {
    let deadline = |key: u64| (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 30) as i64;
    let mut timers = Timers::new();
    for key in 0..size {
        timers.insert(key, deadline(key));
    }
    let tries = (1..=20).map(|n| {
        let started = std::time::Instant::now();
        for key in 0..500 {
            timers.insert(size * n + key, deadline(size * n + key));
        }
        started.elapsed().as_nanos() / 500
    });
    tries.min().expect("twenty tries")
}

// covers: 000-8, 002-8
#[test]
fn an_insert_costs_the_same_among_many() {
    let (few, many) = (insert_ns(1_000), insert_ns(300_000));
    assert!(many < few * 10, "{few} ns and {many} ns");
}

/// A heap is good for few timers, a wheel for very many; the figures show the boundary.
// covers: 002-22
#[test]
fn the_readme_has_the_figures_of_the_choice() {
    let readme = include_str!("../README.md");
    for row in ["insert", "renew", "cancel", "expire"] {
        let row = readme.lines().find(|line| line.starts_with(&format!("| {row} |")));
        let cells = row.map(|row| row.split('|').count());
        assert_eq!(cells, Some(6), "{row:?}");
    }
}
