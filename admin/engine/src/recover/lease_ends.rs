//! The ends of executors' leases, by a timer for each: the runs of a silent executor are lost when their time comes, and not at the next
//! round of the monitor.
//!
//! The timers follow the copy of the registrations, so they cost no statement while heartbeats come. They are hints: the copy may be a
//! second old, and what is over is read from the rows. What a timer misses is found by the monitor.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use carillon_scheduler::Millis;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::recover::lost::LOST_AFTER;
use crate::recover::monitor::RunMonitor;
use crate::runtime::timers::Timers;
use crate::runtime::{Periodic, Service, Step};
use crate::settings::ms;

/// Leases that end within one tick are noticed together, with one look at the rows.
const TICK: Duration = Duration::from_millis(100);
/// The clock may be corrected by some ms while a timer runs: without this one would come before the lease is over.
const AFTER_END: Duration = Duration::from_millis(20);
/// Between two looks at the copy of the registrations, which is read as often.
const EVERY: Duration = Duration::from_secs(1);

pub struct LeaseEndWatcher {
    pub(crate) monitor: Arc<RunMonitor>,
    pub(crate) timers: LeaseTimers,
    pub(crate) observed: Periodic,
}

impl LeaseEndWatcher {
    /// The number of timers whose time has passed by the clock: it was set forward, or stopped with this process.
    fn observe_leases(&self) -> usize {
        let now = self.monitor.cx.clock.now();
        let (mut timers, mut passed) = (self.timers.timers.lock(), 0);
        self.monitor.recover.directory.for_each_lease(|executor, lease_end| {
            let key = (executor.app.clone(), executor.address.clone());
            passed += usize::from(observe(&mut timers, key, lease_end.saturating_add(ms(LOST_AFTER)), now));
        });
        passed
    }
}

impl Service for LeaseEndWatcher {
    const NAME: &'static str = "lease ends";
    /// Executors that were silent for as long as their runs may outlive the lease.
    type Report = usize;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.timers.wake.clone())
    }

    async fn step(&self) -> Step<usize> {
        // A timer wakes this service too, and then the copy need not be looked at again.
        let is_time = self.observed.start_if_due(self.monitor.cx.clock.monotonic(), EVERY / 2);
        let passed = if is_time { self.observe_leases() } else { 0 };
        let did = passed + self.timers.take_due().await;
        if did > 0
            && let Err(error) = self.monitor.end_lost().await
        {
            tracing::warn!(%error, "runs of silent executors could not be looked for; the monitor's next round does");
        }
        Step { did, next: EVERY }
    }
}

/// App and address.
type LeaseKey = (String, String);

pub(crate) struct LeaseTimers {
    timers: Mutex<Timers<LeaseKey>>,
    wake: Arc<Notify>,
    waker: Waker,
}

impl Default for LeaseTimers {
    fn default() -> Self {
        let wake = Arc::<Notify>::default();
        let waker = Waker::from(Arc::new(WakesService(wake.clone())));
        Self { timers: Mutex::new(Timers::new(TICK)), wake, waker }
    }
}

impl LeaseTimers {
    /// How many are due: all of them, however many a task may poll at once. The service is woken for the next one.
    async fn take_due(&self) -> usize {
        let all = poll_fn(|_| {
            let (mut timers, mut count) = (self.timers.lock(), 0);
            while let Poll::Ready(Some(_)) = timers.poll_due(&mut Context::from_waker(&self.waker)) {
                count += 1;
            }
            Poll::Ready(count)
        });
        tokio::task::unconstrained(all).await
    }
}

/// True: it had a timer, and its time has passed.
fn observe(timers: &mut Timers<LeaseKey>, key: LeaseKey, over_at: Millis, now: Millis) -> bool {
    let Ok(left) = u64::try_from(over_at.saturating_sub(now)) else {
        return timers.cancel(&key);
    };
    if let Some(at) = Instant::now().checked_add(Duration::from_millis(left).saturating_add(AFTER_END)) {
        timers.set(key, at);
    }
    false
}

/// As the waker of the wheel.
struct WakesService(Arc<Notify>);

impl Wake for WakesService {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::{Clock as _, ManualClock};

    use super::*;

    const LEASE: Millis = 30_000;

    fn key(number: usize) -> LeaseKey {
        ("orders".into(), format!("http://10.0.0.{number}:9999/"))
    }

    /// Lets tokio's time pass until the service is woken, and the clock with it.
    async fn until_woken(timers: &LeaseTimers, clock: &ManualClock) {
        let before = Instant::now();
        timers.wake.notified().await;
        clock.advance(before.elapsed());
    }

    // covers: 002-35
    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_lease_is_noticed_within_200_ms() {
        let (timers, clock) = (LeaseTimers::default(), ManualClock::new(1_760_000_000_000));
        // At each phase of the ticks, and of the slots of each level that 30 s reach.
        for number in 0..1_000 {
            let over_at = clock.now() + LEASE + number % 130;
            observe(&mut timers.timers.lock(), key(1), over_at, clock.now());
            let mut noticed = timers.take_due().await;
            while noticed == 0 {
                until_woken(&timers, &clock).await;
                noticed = timers.take_due().await;
            }
            let late = clock.now() - over_at;
            assert!((1..=200).contains(&late), "lease {number} was noticed {late} ms after its end");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_is_renewed_has_no_end() {
        let (timers, clock) = (LeaseTimers::default(), ManualClock::new(1_760_000_000_000));
        for _ in 0..1_000 {
            for number in 0..10 {
                let passed = observe(&mut timers.timers.lock(), key(number), clock.now() + LEASE, clock.now());
                assert!(!passed);
            }
            assert_eq!(timers.take_due().await, 0);
            tokio::time::advance(Duration::from_secs(10)).await;
            clock.advance(Duration::from_secs(10));
        }
        assert_eq!(timers.timers.lock().len(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn executors_that_end_together_are_noticed_together() {
        let timers = LeaseTimers::default();
        for number in 0..10_000 {
            observe(&mut timers.timers.lock(), key(number), 1_000 + number as Millis % TICK.as_millis() as Millis, 0);
        }
        assert_eq!(timers.take_due().await, 0);
        tokio::time::advance(Duration::from_millis(1_220)).await;
        assert_eq!(timers.take_due().await, 10_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_set_forward_ends_a_lease_once() {
        let (timers, over_at) = (LeaseTimers::default(), 1_000);
        let mut observe = |now| observe(&mut timers.timers.lock(), key(1), over_at, now);
        assert_eq!([999, 1_000, 1_001, 1_002].map(&mut observe), [false, false, true, false]);
        assert!(timers.timers.lock().is_empty());
        observe(1_003);
        assert!(timers.timers.lock().is_empty(), "one that has ended before gets no timer");
    }
}
