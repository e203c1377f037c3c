//! The only place that reads the system's time.
//!
//! All other code receives `now` as an argument. [`SystemClock`] starts from the last observed time and advances with the
//! monotonic clock. The engine passes it the database's time, so all nodes of one database agree even if their hosts' clocks
//! differ. SQLite has no clock of its own: its only node passes the time of the machine's clock.

mod followed;
mod manual;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use self::followed::Followed;
pub use self::manual::ManualClock;
use crate::Millis;

/// Another clock counts as agreeing when it lies this close, in ms; so do the samples of a step.
pub const AGREE_MS: i64 = 2_000;

/// Where `now` comes from.
pub trait Clock: Send + Sync {
    /// UTC epoch milliseconds.
    fn now(&self) -> Millis;

    /// Time since a fixed start; never goes back. Leases are trusted by it.
    fn monotonic(&self) -> Duration;

    /// Takes an observation of the database's clock. A clock that follows no other ignores it.
    fn observe(&self, _sample: Sample) -> Observed {
        Observed::Slewed { by: 0 }
    }

    /// The time of this machine's own clock, UTC epoch ms. Where the database has a clock, it only confirms or contradicts a
    /// jump of that clock. None: there is no other clock than [`Clock::now`].
    fn wall(&self) -> Option<Millis> {
        None
    }

    /// How long this machine has been suspended since its start, which [`Clock::monotonic`] does not count. Zero where
    /// the operating system does not say.
    fn suspended(&self) -> Duration {
        Duration::ZERO
    }

    /// Time of the processor that the calling thread has used. Zero where the operating system does not say.
    fn thread_time(&self) -> Duration {
        Duration::ZERO
    }
}

/// An answer of the clock that is followed: the database's, or this machine's where the database has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// UTC epoch ms.
    pub db_now: Millis,
    /// [`Clock::monotonic`] before the question.
    pub asked: Duration,
    /// [`Clock::monotonic`] after it.
    pub answered: Duration,
    /// Another clock, this machine's or Redis', says the same within [`AGREE_MS`]; or there is no other clock.
    pub confirmed: bool,
}

impl Sample {
    fn earliest(&self) -> i64 {
        self.db_now - millis(self.answered)
    }

    fn latest(&self) -> i64 {
        self.db_now - millis(self.asked)
    }

    fn middle(&self) -> i64 {
        self.db_now - millis((self.asked + self.answered) / 2)
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Millis {
        (**self).now()
    }

    fn monotonic(&self) -> Duration {
        (**self).monotonic()
    }

    fn observe(&self, sample: Sample) -> Observed {
        (**self).observe(sample)
    }

    fn wall(&self) -> Option<Millis> {
        (**self).wall()
    }

    fn suspended(&self) -> Duration {
        (**self).suspended()
    }

    fn thread_time(&self) -> Duration {
        (**self).thread_time()
    }
}

/// What an observation did to the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// Moved by at most 50 ms either way; the first observation moves it by any distance.
    Slewed {
        /// Milliseconds; positive is forward.
        by: i64,
    },
    /// More than 5 s away: not taken before three agreeing samples and another clock that agrees. Claims and marks wait.
    Held {
        /// How many samples have agreed so far.
        samples: u32,
    },
    /// A confirmed step was taken.
    Stepped {
        /// Milliseconds; positive is forward.
        by: i64,
    },
}

/// The system's clock until the first observation, from then on the database's.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
    state: Mutex<Followed>,
}

impl SystemClock {
    /// Starts from the system's wall clock.
    pub fn new() -> Self {
        Self { start: Instant::now(), state: Mutex::new(Followed::from(wall_clock())) }
    }

    fn state(&self) -> MutexGuard<'_, Followed> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn wall_clock() -> Millis {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    millis(since_epoch)
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        self.state().offset + millis(self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn observe(&self, sample: Sample) -> Observed {
        self.state().observe(sample)
    }

    fn wall(&self) -> Option<Millis> {
        Some(wall_clock())
    }

    fn suspended(&self) -> Duration {
        // CLOCK_BOOTTIME counts the time that a machine is suspended, CLOCK_MONOTONIC does not.
        let monotonic = system::monotonic();
        system::boottime().saturating_sub(monotonic)
    }

    fn thread_time(&self) -> Duration {
        system::thread_time()
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    fn read(clock: ClockId) -> Duration {
        Duration::try_from(clock_gettime(clock)).unwrap_or_default()
    }

    pub fn monotonic() -> Duration {
        read(ClockId::Monotonic)
    }

    pub fn boottime() -> Duration {
        read(ClockId::Boottime)
    }

    pub fn thread_time() -> Duration {
        read(ClockId::ThreadCPUTime)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Duration;

    pub const fn monotonic() -> Duration {
        Duration::ZERO
    }

    pub const fn boottime() -> Duration {
        Duration::ZERO
    }

    pub const fn thread_time() -> Duration {
        Duration::ZERO
    }
}

/// Whole milliseconds; a duration longer than the years of an `i64` counts as the longest.
fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(db_now: Millis, asked: Duration, answered: Duration) -> Sample {
        Sample { db_now, asked, answered, confirmed: true }
    }

    #[test]
    fn the_middle_of_the_round_trip_counts() {
        let clock = SystemClock::new();
        let (asked, answered) = (Duration::from_millis(100), Duration::from_millis(300));
        clock.observe(sample(1_000_000, asked, answered));
        let (now, monotonic) = (clock.now(), millis(clock.monotonic()));
        assert!((now - monotonic - 999_800).abs() <= 1_000, "{now} at {monotonic}");
    }

    #[test]
    fn a_slow_answer_moves_nothing_that_it_does_not_contradict() {
        let clock = SystemClock::new();
        let asked = clock.monotonic();
        let database_now = clock.now();
        // The database was read at once; its answer took almost a second.
        let late = asked + Duration::from_millis(900);
        let observed = clock.observe(sample(database_now, asked, late));
        assert_eq!(observed, Observed::Slewed { by: 0 });
        // A millisecond more than is possible is no reason to go to the middle.
        let observed = clock.observe(sample(database_now + 903, asked, late));
        let Observed::Slewed { by } = observed else { panic!("{observed:?}") };
        assert!((1..=3).contains(&by), "{by}");
    }
}
