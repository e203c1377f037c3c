//! Services are steps: each can do one round and say when it wants the next. The only loop that sleeps is here.

pub mod round_report;
mod service_reports;
pub mod task_list;
pub mod timers;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::runtime::round_report::RoundReport;
use crate::runtime::task_list::TaskList;
use crate::settings::ms;

/// What a round did, and how long to wait for the next one if nothing wakes the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<R = ()> {
    pub did: R,
    pub next: Duration,
}

impl<R: Default> Step<R> {
    /// For a round that has nothing to report.
    pub fn after(next: Duration) -> Self {
        Self { did: R::default(), next }
    }
}

/// One round at a time.
pub trait Service: Send + Sync + 'static {
    const NAME: &'static str;
    /// Waited after a wake-up, so that what comes together is done together.
    const LINGER: Duration = Duration::ZERO;
    type Report: RoundReport;

    /// The shard whose work it does; None: all that this node holds.
    fn shard(&self) -> Option<i32> {
        None
    }

    /// Does what is to be done now.
    fn step(&self) -> impl Future<Output = Step<Self::Report>> + Send;

    /// Wakes it early. A permit that comes during a step is not lost.
    fn wake(&self) -> Option<Arc<Notify>> {
        None
    }
}

/// This many panics of one service within a minute end the process: it is safe to start again.
const PANICS_A_MINUTE: usize = 3;

/// Runs a service as a task of its own, as [`steps`] does.
pub fn run<S: Service>(
    service: &Arc<S>,
    list: &Arc<TaskList>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
    fatal: &CancellationToken,
) {
    tasks.spawn(steps(service.clone(), list.clone(), stop.clone(), fatal.clone()));
}

/// Steps a service until `stop`, and lists it meanwhile. A panic is logged and the service goes on; too many cancel `fatal`.
pub async fn steps<S: Service>(
    service: Arc<S>,
    list: Arc<TaskList>,
    stop: CancellationToken,
    fatal: CancellationToken,
) {
    LazyLock::force(&FIRST);
    let mut panics = VecDeque::new();
    let wake = service.wake().unwrap_or_default();
    let rounds = list.add(S::NAME, service.shard());
    let mut due = Instant::now();
    while !stop.is_cancelled() {
        rounds.start(due);
        let step = std::panic::AssertUnwindSafe(service.step()).catch_unwind();
        let pause = match step.await {
            Ok(step) => {
                tracing::trace!(service.name = S::NAME, step.report = ?step.did, "step");
                rounds.end(step.did.counts());
                step.next
            }
            Err(_) => {
                rounds.end(vec![("panicked", 1)]);
                if too_many(&mut panics, Instant::now()) {
                    tracing::error!(service.name = S::NAME, "too many panics within a minute: the process ends");
                    fatal.cancel();
                    return;
                }
                tracing::error!(service.name = S::NAME, "a step panicked; the service goes on");
                Duration::from_secs(1)
            }
        };
        due = next_round(pause, Instant::now());
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep_until(due) => {}
            () = wake.notified() => tokio::time::sleep(S::LINGER).await,
        }
    }
}

/// Since when this process has services.
static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Rounds of whole seconds begin at the same moment of each second, at most a second early: the process wakes up once for
/// all of them, and what they send to the database and receive shares its wake-ups too. The moment is the one of the start, so
/// the nodes of a cluster have different ones.
fn next_round(pause: Duration, now: Instant) -> Instant {
    let until = now + pause;
    if pause.subsec_nanos() > 0 || pause.is_zero() {
        return until;
    }
    until - Duration::from_nanos(until.duration_since(*FIRST).subsec_nanos().into())
}

fn too_many(panics: &mut VecDeque<Instant>, now: Instant) -> bool {
    panics.push_back(now);
    while panics.front().is_some_and(|first| now.duration_since(*first) > Duration::from_secs(60)) {
        panics.pop_front();
    }
    panics.len() >= PANICS_A_MINUTE
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How long a service waits after an error of the database: a little at first, twice as long with each further one. Counts the
/// errors since the last success.
#[derive(Default)]
pub struct Backoff(AtomicU32);

impl Backoff {
    /// Answers when to try again.
    pub fn failed(&self) -> Duration {
        let before = self.0.fetch_add(1, Ordering::Relaxed).min(5);
        (FIRST_PAUSE * 2_u32.pow(before)).min(LONGEST_PAUSE)
    }

    pub fn succeeded(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// What a service does now and then, however often it is woken: when it was last done, ms on the monotonic clock.
pub struct Periodic(AtomicI64);

/// Due at the first question.
impl Default for Periodic {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN / 2))
    }
}

impl Periodic {
    /// Due when the clock has gone for a period.
    pub const fn after_one() -> Self {
        Self(AtomicI64::new(0))
    }

    /// Whether `every` has passed since it was last due.
    pub fn start_if_due(&self, now: Duration, every: Duration) -> bool {
        let is_due = ms(now) - self.0.load(Ordering::Relaxed) >= ms(every);
        if is_due {
            self.0.store(ms(now), Ordering::Relaxed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use carillon_scheduler::ManualClock;

    use super::*;

    struct Panics {
        steps: AtomicUsize,
        again: Notify,
    }

    impl Service for Panics {
        const NAME: &'static str = "panics";
        type Report = ();

        async fn step(&self) -> Step {
            assert!(self.steps.fetch_add(1, Ordering::SeqCst) != 0, "the first step panics");
            self.again.notify_one();
            Step::after(Duration::from_secs(3600))
        }
    }

    // covers: 002-3, S38
    #[tokio::test]
    async fn a_panicking_step_does_not_stop_its_service() {
        let service = Arc::new(Panics { steps: AtomicUsize::new(0), again: Notify::new() });
        let (tasks, stop, fatal) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let list = Arc::new(TaskList::new(Arc::new(ManualClock::new(0))));
        run(&service, &list, &tasks, &stop, &fatal);
        let again = tokio::time::timeout(Duration::from_secs(10), service.again.notified());
        assert!(again.await.is_ok(), "there is a second step");
        assert!(!fatal.is_cancelled());
        stop.cancel();
        tasks.close();
        tasks.wait().await;
    }

    #[tokio::test]
    async fn rounds_of_whole_seconds_share_their_moment() {
        LazyLock::force(&FIRST);
        let (second, start) = (Duration::from_secs(1), Instant::now());
        let first = next_round(second, start);
        assert!(first <= start + second && first > start, "at most a second early");
        for (pause, late) in [(1, 0), (1, 999), (10, 3)] {
            let next = next_round(second * pause, first + Duration::from_millis(late));
            assert_eq!(next, first + second * pause, "{pause} s, {late} ms after the moment");
        }
        let short = Duration::from_millis(1_500);
        assert_eq!(next_round(short, first), first + short, "others begin when they like");
        assert_eq!(next_round(Duration::ZERO, first), first);
    }

    #[test]
    fn panic_after_panic_ends_the_process() {
        let (mut panics, start) = (VecDeque::new(), Instant::now());
        assert!((1..PANICS_A_MINUTE).all(|_| !too_many(&mut panics, start)));
        assert!(too_many(&mut panics, start));
        assert!(!too_many(&mut panics, start + Duration::from_secs(61)));
    }

    #[test]
    fn it_doubles_from_100_ms_to_2_s_and_begins_anew_after_a_success() {
        let backoff = Backoff::default();
        let paused: Vec<u128> = (0..7).map(|_| backoff.failed().as_millis()).collect();
        assert_eq!(paused, [100, 200, 400, 800, 1_600, 2_000, 2_000]);
        backoff.succeeded();
        assert_eq!(backoff.failed(), FIRST_PAUSE);
    }

    #[test]
    fn it_is_due_once_in_each_period() {
        let second = Duration::from_secs;
        let (now, later) = (Periodic::default(), Periodic::after_one());
        let asked = [0, 9, 10, 19, 20].map(second);
        assert_eq!(asked.map(|at| now.start_if_due(at, second(10))), [true, false, true, false, true]);
        assert_eq!(asked.map(|at| later.start_if_due(at, second(10))), [false, false, true, false, true]);
    }
}
