//! What an insertion, a cancellation and a tick cost, in steps. Times are measured by `benches/timers.rs`.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use carillon_engine::runtime::timers::Timers;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::virtual_time::{MS, in_virtual_time, ms, next};

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

fn step() {
    STEPS.set(STEPS.get() + 1);
}

fn steps_of(work: impl FnOnce()) -> u64 {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}

/// A key that counts what is done with it. With others it is compared by `Eq` alone: no order is kept.
#[derive(Debug)]
struct Counted(u64);

impl Clone for Counted {
    fn clone(&self) -> Self {
        step();
        Self(self.0)
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        step();
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        step();
        self.0.hash(hasher);
    }
}

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Counted {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        step();
        self.0.cmp(&other.0)
    }
}

const MORE: u64 = 100;

/// The delay of a timer: up to 500 s, in no order.
fn delay(number: u64) -> u64 {
    1 + number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 500_000
}

/// The steps for a hundred insertions more among this number of timers, and for their cancellations.
fn steps_among(count: u64) -> (u64, u64) {
    let (mut timers, start) = (Timers::new(MS), Instant::now());
    let set = |timers: &mut Timers<Counted>, number| timers.set(Counted(number), start + ms(delay(number)));
    (0..count).for_each(|number| set(&mut timers, number));
    let inserted = steps_of(|| (count..count + MORE).for_each(|number| set(&mut timers, number)));
    let cancelled = steps_of(|| (count..count + MORE).for_each(|number| assert!(timers.cancel(&Counted(number)))));
    assert_eq!(timers.len() as u64, count);
    (inserted, cancelled)
}

// covers: 000-8, 002-8
#[test]
fn an_insertion_and_a_cancellation_take_as_many_steps_among_a_million_as_among_a_thousand() {
    in_virtual_time(async || {
        let (few, many) = (steps_among(1_000), steps_among(1_000_000));
        // Keys whose hashes begin alike are compared now and then.
        assert!(many.0 <= few.0 + MORE / 4 && many.1 <= few.1 + MORE / 4, "{few:?} and {many:?}");
        assert!(few.0 <= 4 * MORE && few.1 <= 3 * MORE, "{few:?}");
    });
}

/// The comparisons to take the nearest of this number of timers out of a heap.
fn heap_steps_among(count: u64) -> u64 {
    let mut heap: BinaryHeap<_> = (0..count).map(|number| Reverse(Counted(delay(number)))).collect();
    steps_of(|| (0..MORE).for_each(|_| assert!(heap.pop().is_some())))
}

/// A heap compares more the more timers it has; the table in the documentation says from which number on that matters.
// covers: 002-22
#[test]
fn a_heap_takes_more_steps_among_more_timers_and_a_table_compares_both() {
    let (few, many) = (heap_steps_among(1_000), heap_steps_among(1_000_000));
    assert!(many > few + 5 * MORE, "{few} steps among a thousand, {many} among a million");
    let documented = include_str!("../../../docs/performance.md");
    let rows = documented.lines().skip_while(|line| !line.starts_with("| timers | wheel: insert"));
    let counts: Vec<&str> = rows.skip(2).take(5).filter_map(|row| row.split(" | ").next()).collect();
    assert_eq!(counts, ["| 1,000", "| 10,000", "| 100,000", "| 1,000,000", "| 4,000,000"]);
}

/// A tick that has more to give out than others can wait for gives way to them: tokio counts what a task takes at once.
// covers: 002-11
#[test]
fn a_million_timers_at_once_leave_other_tasks_their_turns() {
    const COUNT: u64 = 1_000_000;
    in_virtual_time(async || {
        let due = Arc::new(AtomicU64::new(0));
        let count = due.clone();
        let timers = tokio::spawn(async move {
            let (mut timers, at) = (Timers::new(MS), Instant::now() + ms(500_000));
            (0..COUNT).for_each(|key| timers.set(key, at));
            while next(&mut timers).await.is_some() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        let (mut most, mut last) = (0, 0);
        tokio::time::sleep(ms(499_999)).await;
        while !timers.is_finished() {
            let now = due.load(Ordering::Relaxed);
            (most, last) = (most.max(now - last), now);
            yield_now().await;
            if now == 0 {
                tokio::time::sleep(MS).await;
            }
        }
        assert_eq!(due.load(Ordering::Relaxed), COUNT);
        assert!(most <= 128, "{most} timers between two turns of another task");
    });
}
