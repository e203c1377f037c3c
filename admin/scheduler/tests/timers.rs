//! The heap and the wheel that it was measured against say the same, and the wheel is a fair one.

#[path = "../benches/timers/wheel.rs"]
mod wheel;

use carillon_scheduler::Timers;
use proptest::prelude::*;
use wheel::Wheel;

/// What happens to a pair of them: a key is set so far ahead, or cancelled; or time goes on.
#[derive(Debug, Clone)]
enum Act {
    Insert(u8, i64),
    Cancel(u8),
    Pass(i64),
}

fn act() -> impl Strategy<Value = Act> {
    let ahead = prop_oneof![0_i64..70, 0_i64..4_000, 0_i64..400_000];
    let pass = prop_oneof![0_i64..3, 0_i64..200, 0_i64..9_000, 0_i64..300_000];
    prop_oneof![
        4 => (any::<u8>(), ahead).prop_map(|(key, ahead)| Act::Insert(key, ahead)),
        1 => any::<u8>().prop_map(Act::Cancel),
        3 => pass.prop_map(Act::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    // covers: 000-9, 002-21
    #[test]
    fn nothing_is_lost_on_the_way_down(
        start in 0_i64..2_000_000_000, acts in prop::collection::vec(act(), 1..80),
    ) {
        let (mut heap, mut wheel, mut now) = (Timers::new(), Wheel::new(start), start);
        for act in acts.into_iter().chain([Act::Pass(1_000_000)]) {
            match act {
                Act::Insert(key, ahead) => {
                    heap.insert(key, now + ahead);
                    wheel.insert(key, now + ahead);
                }
                Act::Cancel(key) => {
                    heap.cancel(&key);
                    wheel.cancel(&key);
                }
                Act::Pass(seconds) => {
                    now += seconds;
                    let mut from_heap: Vec<u8> =
                        std::iter::from_fn(|| heap.pop_due(now).map(|(key, _)| key)).collect();
                    let mut from_wheel = vec![];
                    wheel.expire(now, |key| from_wheel.push(key));
                    from_heap.sort_unstable();
                    from_wheel.sort_unstable();
                    prop_assert_eq!(from_heap, from_wheel);
                }
            }
        }
        prop_assert!(heap.is_empty());
    }
}

/// The wheel's own: 500 s begin on the level of minutes and come down to that of seconds, without empty ticks.
// covers: 002-13, 002-20
#[test]
fn the_wheel_has_no_empty_ticks() {
    let mut wheel = Wheel::new(0);
    wheel.insert(1, 500);
    assert_eq!((wheel.level(500), wheel.next_slot()), (2, Some(480)));
    let mut due = vec![];
    for second in 1..=500 {
        wheel.expire(second, |key| due.push((second, key)));
    }
    assert_eq!((due, wheel.turns), (vec![(500, 1)], 2), "at 480 s and at 500 s");
    let levels = [59, 60, 512, 3_600, 86_400].map(|delay| Wheel::<u8>::new(0).level(delay));
    assert_eq!(levels, [1, 2, 2, 3, 4]);
}

/// The clock that the idea comes from: 60 seconds, 60 minutes, 24 hours. (A description of it has a first wheel of 60
/// times 1 ms that makes a minute; it has to be 1 s.)
// covers: 6.24
#[test]
fn each_level_covers_one_slot_of_the_next() {
    for pair in wheel::LEVELS.windows(2) {
        assert_eq!(pair[0].0 * pair[0].1, pair[1].0);
    }
    assert_eq!(wheel::LEVELS[0], (1, 60));
}

/// ns for one insert among so many, the fastest of some tries.
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

/// Few timers: a heap is fine; very many: a wheel. The bench's figures say from where on.
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
