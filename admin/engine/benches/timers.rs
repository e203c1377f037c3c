//! What timers by key cost on the wheel, beside the same on a heap, and how late a timer comes while a million others are inserted.
//!
//! ```text
//! cargo bench -p carillon-engine --bench timers
//! ```
//!
//! Prints the tables of `admin/docs/performance.md`. Each figure is the median of five rounds.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking when the machine is not fit for it")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::future::poll_fn;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant as Watch};

use carillon_engine::runtime::timers::Timers;
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::task::unconstrained;
use tokio::time::Instant;

const ROUNDS: usize = 5;
const MS: Duration = Duration::from_millis(1);
const LONGEST_MS: u64 = 500_000;
/// Of which the cost of one is taken.
const BATCH: u64 = 1_000;
const MANY: u64 = 1_000_000;

/// A delay of up to 500 s, in no order.
fn delay(number: u64) -> Duration {
    Duration::from_millis(1 + number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % LONGEST_MS)
}

/// Both ways to keep timers by key.
trait KeyedTimers {
    fn empty() -> Self;
    fn set(&mut self, key: u64, at: Instant);
    fn cancel(&mut self, key: u64);
    /// Takes out all, which are due by now.
    fn take_all(&mut self) -> u64;
}

impl KeyedTimers for Timers<u64> {
    fn empty() -> Self {
        Self::new(MS)
    }

    fn set(&mut self, key: u64, at: Instant) {
        self.set(key, at);
    }

    fn cancel(&mut self, key: u64) {
        assert!(self.cancel(&key));
    }

    fn take_all(&mut self) -> u64 {
        let (mut cx, mut count) = (Context::from_waker(Waker::noop()), 0);
        while let Poll::Ready(Some(key)) = self.poll_due(&mut cx) {
            black_box(key);
            count += 1;
        }
        count
    }
}

/// What was cancelled stays in the heap until its time comes.
struct Heap {
    heap: BinaryHeap<Reverse<(Instant, u64)>>,
    times: HashMap<u64, Instant>,
}

impl KeyedTimers for Heap {
    fn empty() -> Self {
        Self { heap: BinaryHeap::new(), times: HashMap::new() }
    }

    fn set(&mut self, key: u64, at: Instant) {
        if self.times.insert(key, at) != Some(at) {
            self.heap.push(Reverse((at, key)));
        }
    }

    fn cancel(&mut self, key: u64) {
        assert!(self.times.remove(&key).is_some());
    }

    fn take_all(&mut self) -> u64 {
        let mut count = 0;
        while let Some(Reverse((at, key))) = self.heap.pop() {
            if self.times.get(&key) == Some(&at) {
                self.times.remove(&black_box(key));
                count += 1;
            }
        }
        count
    }
}

fn median<T: Copy + PartialOrd>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap());
    values[values.len() / 2]
}

fn nanoseconds(watch: Watch, count: u64) -> f64 {
    watch.elapsed().as_secs_f64() * 1e9 / count as f64
}

/// An insertion and a cancellation among this number of timers, in ns.
fn insert_and_cancel<T: KeyedTimers>(count: u64) -> (f64, f64) {
    let (mut timers, start) = (T::empty(), Instant::now());
    (0..count).for_each(|key| timers.set(key, start + delay(key)));
    let (mut inserted, mut cancelled) = (vec![], vec![]);
    for round in 0..ROUNDS as u64 {
        let keys = count + round * BATCH..count + (round + 1) * BATCH;
        let watch = Watch::now();
        keys.clone().for_each(|key| timers.set(key, start + delay(key)));
        inserted.push(nanoseconds(watch, BATCH));
        let watch = Watch::now();
        keys.for_each(|key| timers.cancel(key));
        cancelled.push(nanoseconds(watch, BATCH));
    }
    (median(inserted), median(cancelled))
}

/// What it costs to come down all levels and to be taken out, for each of this number of timers, in ns.
async fn due<T: KeyedTimers>(count: u64) -> f64 {
    let mut rounds = vec![];
    for _ in 0..ROUNDS {
        let (mut timers, start) = (T::empty(), Instant::now());
        (0..count).for_each(|key| timers.set(key, start + delay(key)));
        tokio::time::advance(Duration::from_millis(LONGEST_MS + 1)).await;
        let watch = Watch::now();
        let taken = unconstrained(poll_fn(|_| Poll::Ready(timers.take_all()))).await;
        rounds.push(nanoseconds(watch, count));
        assert_eq!(taken, count);
    }
    median(rounds)
}

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

fn bytes_each<T: KeyedTimers>() -> u64 {
    let before = resident_bytes();
    let (mut timers, start) = (T::empty(), Instant::now());
    (0..MANY).for_each(|key| timers.set(key, start + delay(key)));
    resident_bytes().saturating_sub(before) / MANY
}

/// A number of timers are inserted one by one by a thread, behind the lock under which a task polls. Answers how late a timer comes
/// meanwhile that is renewed every 10 ms: one time out of a hundred, and at most, in ms.
async fn lateness_beside(timers: Arc<Mutex<Timers<u64>>>, count: u64) -> (f64, f64) {
    const TICKER: u64 = u64::MAX;
    const PERIOD: Duration = Duration::from_millis(10);
    /// More times after the last insertion, so that it is late a hundred times at least.
    const AFTER: u64 = 100;
    let (polled, is_inserted) = (timers.clone(), Arc::<AtomicBool>::default());
    let (mut at, mut lateness, mut left, ended) = (Instant::now() + PERIOD, vec![], AFTER, is_inserted.clone());
    timers.lock().set(TICKER, at);
    let ticker = tokio::spawn(poll_fn(move |cx| {
        while left > 0 {
            let mut timers = polled.lock();
            match timers.poll_due(cx) {
                Poll::Ready(Some(TICKER)) => {
                    lateness.push(at.elapsed().as_secs_f64() * 1e3);
                    left -= u64::from(ended.load(Ordering::Relaxed));
                    at = Instant::now() + PERIOD;
                    timers.set(TICKER, at);
                }
                Poll::Ready(_) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(std::mem::take(&mut lateness))
    }));
    // Not by a task of the runtime: one that never waits would keep its worker from the timers that it wakes.
    let insert = tokio::task::spawn_blocking(move || {
        let start = Instant::now();
        (0..count).for_each(|key| timers.lock().set(key, start + delay(key)));
        is_inserted.store(true, Ordering::Relaxed);
    });
    insert.await.unwrap();
    let mut lateness = ticker.await.unwrap();
    lateness.sort_by(f64::total_cmp);
    (lateness[lateness.len() * 99 / 100], lateness[lateness.len() - 1])
}

fn print_lateness(runtime: &Runtime) {
    println!("| timers inserted at once | another one is late: p99 | at most | again: p99 | at most |");
    println!("| --- | --- | --- | --- | --- |");
    for count in [1_000, 10_000, 100_000, MANY] {
        let mut rounds: [Vec<f64>; 4] = Default::default();
        for _ in 0..ROUNDS {
            let timers = Arc::new(Mutex::new(Timers::new(MS)));
            let first = runtime.block_on(lateness_beside(timers.clone(), count));
            // The second time their storage is there.
            let entered = runtime.enter();
            for key in 0..count {
                timers.lock().cancel(&key);
            }
            drop(entered);
            let again = runtime.block_on(lateness_beside(timers, count));
            rounds.iter_mut().zip([first.0, first.1, again.0, again.1]).for_each(|(all, late)| all.push(late));
        }
        let [p99, most, p99_again, most_again] = rounds.map(median);
        println!("| {count} | {p99:.1} ms | {most:.1} ms | {p99_again:.1} ms | {most_again:.1} ms |");
    }
}

fn print_costs(runtime: &Runtime) {
    let entered = runtime.enter();
    let counts = [1_000, 10_000, 100_000, MANY, 4 * MANY];
    let costs = counts.map(|count| (insert_and_cancel::<Timers<u64>>(count), insert_and_cancel::<Heap>(count)));
    let (mut timers, start, watch) = (Timers::new(MS), Instant::now(), Watch::now());
    (0..MANY).for_each(|key| timers.set(key % 1_000, start + Duration::from_millis(LONGEST_MS + key / 1_000)));
    println!("\na renewal: {:.0} ns", nanoseconds(watch, MANY));
    assert_eq!((timers.len(), timers.insertions()), (1_000, 1_000));
    println!("bytes for each of a million: wheel {}, heap {}", bytes_each::<Timers<u64>>(), bytes_each::<Heap>());
    drop(entered);
    println!("\n| timers | wheel: insert | cancel | come due | heap: insert | cancel | come due |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    // From here on time passes by itself, and reading it is slower.
    let virtual_time = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    for (count, (wheel, heap)) in counts.into_iter().zip(costs) {
        let (wheel_due, heap_due) =
            virtual_time.block_on(async { (due::<Timers<u64>>(count).await, due::<Heap>(count).await) });
        let [inserted, cancelled, heap_inserted, heap_cancelled] = [wheel.0, wheel.1, heap.0, heap.1];
        println!(
            "| {count} | {inserted:.0} ns | {cancelled:.0} ns | {wheel_due:.0} ns \
             | {heap_inserted:.0} ns | {heap_cancelled:.0} ns | {heap_due:.0} ns |"
        );
    }
}

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    print_lateness(&runtime);
    print_costs(&runtime);
}
