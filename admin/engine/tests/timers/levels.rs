//! The wheel has six levels of 64 slots: 1 ms, 64 ms, 4.096 s, 262.144 s, 4.66 h and 12.4 days. A timer waits in the level that its delay
//! reaches. It comes down when the time arrives at the start of its slot, and is due from the lowest level. What can be seen of that from
//! outside are wake-ups: of the task that polls, and of the thread, whose runtime has a wheel of the same form.

use std::collections::BTreeSet;
use std::future::poll_fn;

use carillon_engine::runtime::timers::Timers;
use tokio::time::{Instant, sleep};

use crate::virtual_time::{MS, in_virtual_time, ms, next, wake_ups};

const SECOND: u64 = 1_000;

/// When a process wakes up that has one timer of this delay, in ms: at each level that it comes down, and when it is due.
fn path_down(delay: u64) -> Vec<u64> {
    wake_ups(async || {
        let (mut timers, start) = (Timers::new(MS), Instant::now());
        timers.set(delay, start + ms(delay));
        assert_eq!((next(&mut timers).await, start.elapsed()), (Some(delay), ms(delay)));
    })
}

/// A wheel of 8 slots of 1 s would go round six times and stop at its third slot. This one has no rounds to count: 50 s are
/// slot 12 of 4.096 s, slot 13 of 64 ms and slot 16 of 1 ms.
// covers: 002-10
#[test]
fn fifty_seconds_are_due_after_fifty_seconds_and_in_no_round_before() {
    assert_eq!((50 / 8, 50 % 8), (6, 2));
    assert_eq!(((12 * 64 + 13) * 64) + 16, 50 * SECOND);
    assert_eq!(path_down(50 * SECOND), [12 * 4_096, 12 * 4_096 + 13 * 64, 50 * SECOND]);
}

// covers: 000-10
#[test]
fn delays_of_1_6_and_13_seconds_are_due_then() {
    in_virtual_time(async || {
        let (mut timers, start) = (Timers::new(ms(SECOND)), Instant::now());
        for seconds in [13, 6, 1] {
            timers.set(seconds, start + ms(seconds * SECOND));
        }
        for seconds in [1, 6, 13] {
            assert_eq!((next(&mut timers).await, start.elapsed()), (Some(seconds), ms(seconds * SECOND)));
        }
    });
}

// covers: 002-19
#[test]
fn a_delay_of_512_ticks_is_due_then() {
    for (tick, levels) in [(1, 2), (SECOND, 4)] {
        let path = path_down(512 * tick);
        println!("512 ticks of {tick} ms: {levels} levels, {path:?}");
        let highest = (0..6).rev().find(|level| 512 * tick >= 64_u64.pow(*level));
        assert_eq!((path.last(), highest), (Some(&(512 * tick)), Some(levels - 1)));
    }
    in_virtual_time(async || {
        let (mut timers, start) = (Timers::new(ms(SECOND)), Instant::now());
        (1..=512).for_each(|ticks| timers.set(ticks, start + ms(ticks * SECOND)));
        for ticks in 1..=512 {
            assert_eq!((next(&mut timers).await, start.elapsed()), (Some(ticks), ms(ticks * SECOND)));
        }
    });
}

/// On three levels of 8 slots of 1 s it would come down with 64 s and with 8 s left. Here it does so at the starts of its slots.
// covers: 002-20
#[test]
fn a_delay_of_500_seconds_comes_down_each_level_once() {
    let (third, second, first) = (262_144, 262_144 + 58 * 4_096, 262_144 + 58 * 4_096 + 4 * 64);
    assert_eq!((third, second, first, first + 32), (262_144, 499_712, 499_968, 500 * SECOND));
    assert_eq!(path_down(500 * SECOND), [third, second, first, 500 * SECOND]);
}

/// A timer at, just before and just after the start of each level and of some of its slots, from different phases of the wheel.
// covers: 002-21
#[test]
fn no_timer_is_lost_on_its_way_down() {
    for phase in [0, 1, 63, 64, 4_095, 262_143, 16_777_215, 16_777_300] {
        in_virtual_time(async || {
            let (mut timers, mut expected) = (Timers::new(MS), BTreeSet::new());
            sleep(ms(phase)).await;
            let start = Instant::now();
            for level in 0..6 {
                for slot in [1, 2, 31, 62, 63] {
                    for around in 0..3 {
                        let delay = slot * 64_u64.pow(level) + around - 1;
                        timers.set(delay, start + ms(delay));
                        expected.insert(delay);
                    }
                }
            }
            while let Some(delay) = next(&mut timers).await {
                assert_eq!(start.elapsed(), ms(delay), "from {phase}");
                assert!(expected.remove(&delay), "{delay} came twice");
            }
            assert!(expected.is_empty(), "lost from {phase}: {expected:?}");
        });
    }
}

/// The wheel reaches 2.2 years, counted from the last time that it gave out.
const YEAR: u64 = 365 * 24 * 3_600 * SECOND;

#[test]
fn years_without_a_timer_and_delays_of_years_lose_none() {
    in_virtual_time(async || {
        let mut timers = Timers::new(MS);
        for delay in [YEAR / 4, 5 * YEAR, 1, YEAR] {
            sleep(ms(2 * YEAR)).await;
            let start = Instant::now();
            timers.set("cancelled", start + ms(delay));
            assert!(timers.cancel(&"cancelled"));
            timers.set("due", start + ms(delay));
            assert_eq!((next(&mut timers).await, start.elapsed()), (Some("due"), ms(delay)));
        }
    });
}

#[test]
fn years_with_timers_of_which_none_comes_due_lose_none() {
    in_virtual_time(async || {
        let (mut timers, mut keys) = (Timers::new(MS), ["even", "odd"].into_iter().cycle());
        for half_years in 1..20 {
            let key = keys.next().unwrap();
            timers.cancel(&key);
            timers.set(key, Instant::now() + ms(YEAR * 3 / 2));
            assert_eq!(timers.len(), 2.min(half_years));
            let wait = tokio::time::timeout(ms(YEAR / 2), next(&mut timers));
            assert!(wait.await.is_err(), "{key} in half-year {half_years}");
        }
        let start = Instant::now();
        assert_eq!((next(&mut timers).await, start.elapsed()), (keys.next(), ms(YEAR / 2)));
    });
}

/// The wake-ups of a process with this number of timers in each of some slots.
fn wake_ups_of(slots: &[u64], timers_each: u64) -> Vec<u64> {
    wake_ups(async || {
        let (mut timers, start) = (Timers::new(MS), Instant::now());
        for at in slots {
            (0..timers_each).for_each(|number| timers.set((*at, number), start + ms(*at)));
        }
        let mut count = 0;
        while next(&mut timers).await.is_some() {
            count += 1;
        }
        assert_eq!(count, slots.len() as u64 * timers_each);
    })
}

/// Each level knows its slots that are not empty, and the nearest of them says when to wake.
// covers: 002-5, 002-17
#[test]
fn a_process_wakes_for_slots_that_are_not_empty_and_not_for_timers() {
    for slots in [&[1_000, 1_001, 1_002][..], &[64, 128, 4_096, 500_000], &[7_000, 3_600_000, 86_400_000]] {
        let few = wake_ups_of(slots, 1);
        assert_eq!(wake_ups_of(slots, 3_000), few, "{slots:?}");
        assert!(slots.iter().all(|slot| few.contains(slot)));
        // To come down from a level there is at most one wake-up for each timer, in its own wheel and in that of the runtime.
        assert!(few.len() <= slots.len() * 2 * 6, "{few:?}");
    }
}

/// Of a wheel with a tick of 1 s all but one of 500 ticks would be empty. The thread wakes where its runtime's wheel brings the timer
/// down: from the level of 262 s, or now and then from the one above.
// covers: 002-13
#[test]
fn one_timer_of_500_seconds_wakes_its_task_once_and_its_process_once_for_each_level() {
    for (phase, levels) in [(0, 4), (7, 4), (1_000, 4), (12_345, 4), (262_100, 4), (3_600_000, 4), (16_600_000, 5)] {
        let mut polls = 0;
        let woken = wake_ups(async || {
            sleep(ms(phase)).await;
            let mut timers = Timers::new(MS);
            timers.set("key", Instant::now() + ms(500 * SECOND));
            let due = poll_fn(|cx| {
                polls += 1;
                timers.poll_due(cx)
            });
            assert_eq!(due.await, Some("key"));
        });
        assert_eq!(polls, 2, "when it is inserted, and when it is due");
        let woken = woken.iter().filter(|at| **at > phase).count();
        assert!(woken <= levels, "{woken} wake-ups from {phase}");
    }
}
