use std::cmp::Reverse;

use super::timers::{MAX_OBSOLETE, Timers};
use crate::time::Millis;

fn due(timers: &mut Timers<u64>, now: Millis) -> Vec<u64> {
    std::iter::from_fn(|| timers.pop_due(now).map(|(key, _)| key)).collect()
}

#[test]
fn timers_expire_at_their_deadlines_in_order() {
    let mut timers = Timers::new();
    for (key, deadline) in [(1, 300), (2, 100), (3, 200), (4, 100)] {
        assert_eq!(timers.insert(key, deadline), None);
    }
    assert_eq!(timers.next_deadline(), Some(100));
    assert_eq!(due(&mut timers, 99), [0_u64; 0]);
    assert_eq!(due(&mut timers, 200), [2, 4, 3]);
    assert_eq!(timers.pop_due(i64::MAX), Some((1, 300)));
    assert!(timers.is_empty() && timers.next_deadline().is_none());
}

#[test]
fn a_timer_can_be_moved_both_ways_and_cancelled() {
    let mut timers = Timers::new();
    timers.insert(1, 100);
    assert_eq!(timers.insert(1, 500), Some(100));
    assert_eq!(timers.next_deadline(), Some(500));
    assert_eq!(timers.insert(1, 50), Some(500));
    assert_eq!(timers.next_deadline(), Some(50));
    assert_eq!(timers.insert(1, 80), Some(50));
    assert_eq!(timers.deadline(&1), Some(80));
    assert_eq!(due(&mut timers, 79), [0_u64; 0]);
    assert_eq!(timers.cancel(&1), Some(80));
    assert_eq!((timers.cancel(&1), timers.len()), (None, 0));
    assert_eq!(due(&mut timers, 1_000), [0_u64; 0]);
    timers.insert(1, 100);
    assert_eq!(due(&mut timers, 1_000), [1], "once, although it was inserted three times");
}

/// The wakes up to a time of an owner that sleeps until the next deadline and handles due timers.
fn wakes(timers: &mut Timers<u64>, until: Millis) -> Vec<Millis> {
    let mut wakes = vec![];
    while let Some(at) = timers.next_deadline().filter(|&at| at <= until) {
        wakes.push(at);
        while timers.pop_due(at).is_some() {}
    }
    wakes
}

// covers: 002-13, 002-17
#[test]
fn one_timer_of_500_s_needs_no_earlier_wake() {
    let mut timers = Timers::new();
    timers.insert(7, 500_000);
    let wakes = wakes(&mut timers, 1_000_000);
    assert!(wakes.len() <= 3);
    assert_eq!(wakes, [500_000], "a wheel of 1 s ticks has 499 empty ones");
}

/// A wheel of 8 slots has to count rounds or to have levels: 50 s are 6 rounds and 2 slots, which is index 2 if the
/// pointer is at 0, and index 3, the fourth slot, if it is at 1 as in the usual example. Here the deadline is absolute.
// covers: 002-10
#[test]
fn a_delay_of_50_s_needs_no_rounds() {
    let index = |pointer: i64| (pointer + 50) % 8;
    assert_eq!((50 / 8, index(0), index(1)), (6, 2, 3));
    let mut timers = Timers::new();
    timers.insert(1, 50_000);
    for second in 0..50 {
        assert_eq!(timers.pop_due(second * 1_000), None);
    }
    assert_eq!(timers.pop_due(50_000), Some((1, 50_000)));
}

/// In a wheel with three levels of 8 slots, which cover 512 ticks, a timer of 500 s moves down a level at 436 s (64 left)
/// and at 492 s (8 left). A heap has no levels: the same timers expire on the same ticks, without work in between.
// covers: 002-19, 002-20
#[test]
fn a_delay_of_512_ticks_needs_no_levels() {
    let mut timers = Timers::new();
    for delay in [8, 64, 500, 511, 512, 513] {
        timers.insert(delay, delay as i64 * 1_000);
    }
    let expected = [8_000, 64_000, 500_000, 511_000, 512_000, 513_000];
    assert_eq!(wakes(&mut timers, 600_000), expected);
}

// covers: 002-31
#[test]
fn a_million_renewals_of_a_thousand_keys_are_a_thousand_entries() {
    let mut timers = Timers::new();
    for n in 0..1_000_000 {
        timers.insert(n % 1_000, 30_000 + n as i64 / 50);
        debug_assert!(timers.heap.len() <= 1_000);
    }
    assert_eq!((timers.len(), timers.heap.len()), (1_000, 1_000));
}

// covers: 002-32
#[test]
fn a_renewal_leaves_the_heap_alone() {
    let mut timers = Timers::new();
    timers.insert(1, 30_000);
    // 100,000 heartbeats within a second.
    for n in 0..100_000 {
        timers.insert(1, 30_000 + n / 100);
    }
    assert_eq!(timers.heap.peek(), Some(&Reverse((30_000, 1))), "unchanged");
    // At the old deadline it is armed again for the rest.
    assert_eq!(timers.pop_due(30_000), None);
    assert_eq!((timers.next_deadline(), timers.heap.len()), (Some(30_999), 1));
}

// covers: 002-33
#[test]
fn a_timer_renewed_in_time_never_expires() {
    let timers = std::sync::Mutex::new(Timers::new());
    let clock = std::sync::atomic::AtomicI64::new(0);
    let now = || clock.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    timers.lock().unwrap().insert(1_u64, now() + 50);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..10_000 {
                let mut timers = timers.lock().unwrap();
                timers.insert(1, now() + 50);
            }
        });
        scope.spawn(|| {
            for _ in 0..10_000 {
                let mut timers = timers.lock().unwrap();
                let (renewed, now) = (timers.deadline(&1), now());
                let taken = timers.pop_due(now);
                let live = renewed.is_some_and(|deadline| deadline > now);
                assert!(!(live && taken.is_some()), "{renewed:?} at {now}");
            }
        });
    });
}

#[test]
fn cancelled_timers_do_not_pile_up() {
    let mut timers = Timers::new();
    for n in 0..100_000 {
        timers.insert(n, 1_000);
        timers.cancel(&n);
        assert!(timers.heap.len() <= MAX_OBSOLETE + 2);
    }
    for key in 0..100_u64 {
        for earlier in 0..100 {
            timers.insert(key, 10_000 - earlier);
        }
    }
    assert!(timers.heap.len() <= 2 * timers.len() + MAX_OBSOLETE);
    assert_eq!(due(&mut timers, 10_000), (0..100).collect::<Vec<_>>());
}

/// A wheel's loop handles cancellations, then new timers, then due ones. Here every call takes effect at once.
// covers: 002-9
#[test]
fn changes_before_the_due_time_count() {
    let mut timers = Timers::new();
    timers.insert(1, 100);
    timers.insert(2, 100);
    timers.cancel(&1);
    timers.insert(2, 200);
    timers.insert(3, 100);
    assert_eq!(due(&mut timers, 100), [3]);
}

/// The owner pops one timer after the other and may stop at any time; a wheel must bound the work of a tick.
#[test]
fn a_burst_can_be_taken_bit_by_bit() {
    let mut timers = Timers::new();
    for key in 0..200_000_u64 {
        timers.insert(key, 1_000);
    }
    let taken = std::iter::from_fn(|| timers.pop_due(1_000)).take(100_000);
    assert_eq!(taken.last(), Some((99_999, 1_000)));
    assert_eq!((timers.len(), timers.next_deadline()), (100_000, Some(1_000)));
}

#[test]
fn producers_on_64_threads_lose_nothing() {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for producer in 0..64_u64 {
            let sender = sender.clone();
            scope.spawn(move || {
                for n in 0..200 {
                    sender.send((producer * 200 + n, n % 3 == 0)).unwrap();
                }
            });
        }
        drop(sender);
        let mut timers = Timers::new();
        for (key, cancelled) in receiver {
            timers.insert(key, key as i64);
            if cancelled {
                timers.cancel(&key);
            }
        }
        let left = due(&mut timers, 64 * 200);
        assert_eq!(left, (0..12_800).filter(|key| key % 200 % 3 != 0).collect::<Vec<_>>());
    });
}

/// Checked every 100 ms, as a wheel of leases is.
#[test]
fn a_lease_ends_at_most_100_ms_late() {
    let mut timers = Timers::new();
    for key in 0..1_024_u64 {
        timers.insert(key, (key * 97 % 10_000) as i64);
    }
    for now in (0..=10_000).step_by(100) {
        while let Some((_, deadline)) = timers.pop_due(now) {
            assert!((0..100).contains(&(now - deadline)));
        }
    }
    assert!(timers.is_empty());
}
