//! The heap of `Timers` against a hierarchical timing wheel, for time-outs and leases: what it costs to insert, renew,
//! cancel and expire one timer among many.

#[path = "timers/wheel.rs"]
mod wheel;

use carillon_scheduler::Timers;
use divan::{Bencher, black_box, counter::ItemsCount};
use wheel::Wheel;

const SIZES: [u64; 3] = [1_000, 100_000, 1_000_000];
const START: i64 = 1_735_689_600;

fn main() {
    divan::main();
}

/// What both can do, in seconds.
trait Organiser {
    fn empty() -> Self;
    fn insert(&mut self, key: u64, deadline: i64);
    fn cancel(&mut self, key: u64);
    /// Goes on to a second; how many were due.
    fn expire(&mut self, now: i64) -> usize;
}

impl Organiser for Timers<u64> {
    fn empty() -> Self {
        Self::new()
    }

    fn insert(&mut self, key: u64, deadline: i64) {
        Self::insert(self, key, deadline * 1_000);
    }

    fn cancel(&mut self, key: u64) {
        Self::cancel(self, &key);
    }

    fn expire(&mut self, now: i64) -> usize {
        std::iter::from_fn(|| self.pop_due(now * 1_000)).count()
    }
}

impl Organiser for Wheel<u64> {
    fn empty() -> Self {
        Self::new(START)
    }

    fn insert(&mut self, key: u64, deadline: i64) {
        Self::insert(self, key, deadline);
    }

    fn cancel(&mut self, key: u64) {
        Self::cancel(self, &key);
    }

    fn expire(&mut self, now: i64) -> usize {
        let mut count = 0;
        Self::expire(self, now, |_| count += 1);
        count
    }
}

/// 1 s to 2 h from now, scattered.
fn deadline(key: u64) -> i64 {
    START + 1 + (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as i64 % 7_200
}

fn full<T: Organiser>(size: u64) -> T {
    let mut timers = T::empty();
    for key in 0..size {
        timers.insert(key, deadline(key));
    }
    timers
}

#[divan::bench(types = [Timers<u64>, Wheel<u64>], args = SIZES, sample_count = 10, sample_size = 1)]
fn insert<T: Organiser>(bencher: Bencher, size: u64) {
    let bencher = bencher.counter(ItemsCount::new(size));
    bencher.bench(|| full::<T>(black_box(size)));
}

/// Each key once, further off by its time to live: a round of heartbeats.
#[divan::bench(types = [Timers<u64>, Wheel<u64>], args = SIZES, sample_count = 10, sample_size = 1)]
fn renew<T: Organiser>(bencher: Bencher, size: u64) {
    let bencher = bencher.counter(ItemsCount::new(size));
    bencher.with_inputs(|| full::<T>(size)).bench_values(|mut timers| {
        for key in 0..size {
            timers.insert(key, deadline(key) + 30);
        }
        timers
    });
}

/// Each key once: requests that were answered in time.
#[divan::bench(types = [Timers<u64>, Wheel<u64>], args = SIZES, sample_count = 10, sample_size = 1)]
fn cancel<T: Organiser>(bencher: Bencher, size: u64) {
    let bencher = bencher.counter(ItemsCount::new(size));
    bencher.with_inputs(|| full::<T>(size)).bench_values(|mut timers| {
        for key in 0..size {
            timers.cancel(key);
        }
        timers
    });
}

/// All of them, in the seconds of two hours.
#[divan::bench(types = [Timers<u64>, Wheel<u64>], args = SIZES, sample_count = 10, sample_size = 1)]
fn expire<T: Organiser>(bencher: Bencher, size: u64) {
    let bencher = bencher.counter(ItemsCount::new(size));
    bencher.with_inputs(|| full::<T>(size)).bench_values(|mut timers| {
        let due: usize = (0..=7_201).map(|s| timers.expire(START + s)).sum();
        assert_eq!(due as u64, size);
    });
}
