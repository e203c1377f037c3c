//! What it costs to insert, renew, cancel and expire one timer among many.

use carillon_scheduler::Timers;
use divan::{Bencher, black_box, counter::ItemsCount};

const SIZES: [u64; 3] = [1_000, 100_000, 1_000_000];
const START: i64 = 1_735_689_600_000;

fn main() {
    divan::main();
}

/// 1 s to 2 h after the start, scattered.
fn deadline(key: u64) -> i64 {
    START + 1_000 * (1 + (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as i64 % 7_200)
}

fn full(size: u64) -> Timers<u64> {
    let mut timers = Timers::new();
    for key in 0..size {
        timers.insert(key, deadline(key));
    }
    timers
}

#[divan::bench(args = SIZES, sample_count = 10, sample_size = 1)]
fn insert(bencher: Bencher, size: u64) {
    let bencher = bencher.counter(ItemsCount::new(size));
    bencher.bench(|| full(black_box(size)));
}

/// Each key once, later by its time to live: a round of heartbeats.
#[divan::bench(args = SIZES, sample_count = 10, sample_size = 1)]
fn renew(bencher: Bencher, size: u64) {
    let bencher = bencher.counter(ItemsCount::new(size));
    bencher.with_inputs(|| full(size)).bench_values(|mut timers| {
        for key in 0..size {
            timers.insert(key, deadline(key) + 30_000);
        }
        timers
    });
}

/// Each key once: requests that were answered in time.
#[divan::bench(args = SIZES, sample_count = 10, sample_size = 1)]
fn cancel(bencher: Bencher, size: u64) {
    let bencher = bencher.counter(ItemsCount::new(size));
    bencher.with_inputs(|| full(size)).bench_values(|mut timers| {
        for key in 0..size {
            timers.cancel(&key);
        }
        timers
    });
}

/// All of them, in the seconds of two hours.
#[divan::bench(args = SIZES, sample_count = 10, sample_size = 1)]
fn expire(bencher: Bencher, size: u64) {
    let bencher = bencher.counter(ItemsCount::new(size));
    bencher.with_inputs(|| full(size)).bench_values(|mut timers| {
        let mut due = |second: i64| std::iter::from_fn(|| timers.pop_due(START + second * 1_000)).count();
        let count: usize = (0..=7_201).map(&mut due).sum();
        assert_eq!(count as u64, size);
    });
}
