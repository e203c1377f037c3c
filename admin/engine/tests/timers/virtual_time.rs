//! Time that passes by itself while nothing is to be done, and the wake-ups of a process in it.

use std::future::poll_fn;
use std::hash::Hash;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use carillon_engine::runtime::timers::Timers;
use parking_lot::Mutex;
use tokio::runtime::Builder;
use tokio::time::Instant;

/// The lowest slot of the wheel.
pub const MS: Duration = Duration::from_millis(1);

pub fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Runs a test on one thread and answers when that woke up: the distinct times, in ms since the start.
pub fn wake_ups(test: impl AsyncFnOnce()) -> Vec<u64> {
    let woken = Arc::new(Mutex::new(Vec::new()));
    let record = woken.clone();
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .on_thread_unpark(move || record.lock().push(Instant::now()))
        .build()
        .unwrap();
    let start = runtime.block_on(async {
        let start = Instant::now();
        test().await;
        start
    });
    let mut times: Vec<u64> = woken.lock().iter().map(|at| at.duration_since(start).as_millis() as u64).collect();
    times.dedup();
    times
}

pub fn in_virtual_time(test: impl AsyncFnOnce()) {
    wake_ups(test);
}

/// Waits for the next timer. None: there is none.
pub async fn next<K: Clone + Eq + Hash>(timers: &mut Timers<K>) -> Option<K> {
    poll_fn(|cx| timers.poll_due(cx)).await
}

/// The keys that are due now.
pub fn due_now<K: Clone + Eq + Hash>(timers: &mut Timers<K>) -> Vec<K> {
    let (mut cx, mut due) = (Context::from_waker(Waker::noop()), vec![]);
    while let Poll::Ready(Some(key)) = timers.poll_due(&mut cx) {
        due.push(key);
    }
    due
}
