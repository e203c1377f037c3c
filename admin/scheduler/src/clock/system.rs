use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::sample::{Observed, Sample, millis};
use super::step_guard::StepGuard;
use super::time_source::Clock;
use crate::time::Millis;

/// The system's clock until the first observation, then the clock that is observed, advanced by the monotonic clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
    guard: Mutex<StepGuard>,
}

impl SystemClock {
    /// Starts from the system's wall clock.
    pub fn new() -> Self {
        Self { start: Instant::now(), guard: Mutex::new(StepGuard::new(wall_clock())) }
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
        self.guard.lock().offset + millis(self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn observe(&self, sample: Sample) -> Observed {
        self.guard.lock().observe(sample)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(db_now: Millis, before: Duration, after: Duration) -> Sample {
        Sample { db_now, before, after, confirmed: true }
    }

    #[test]
    fn the_middle_of_the_round_trip_counts() {
        let clock = SystemClock::new();
        let (before, after) = (Duration::from_millis(100), Duration::from_millis(300));
        clock.observe(sample(1_000_000, before, after));
        let (now, monotonic) = (clock.now(), millis(clock.monotonic()));
        assert!((now - monotonic - 999_800).abs() <= 1_000, "{now} at {monotonic}");
    }

    #[test]
    fn a_slow_answer_moves_nothing_if_the_clock_is_within_its_range() {
        let clock = SystemClock::new();
        let before = clock.monotonic();
        let database_now = clock.now();
        // The database was read at once; its answer took almost a second.
        let late = before + Duration::from_millis(900);
        let observed = clock.observe(sample(database_now, before, late));
        assert_eq!(observed, Observed::Slewed { by: 0 });
        // One millisecond outside the range moves the clock to the edge of the range, not to its middle.
        let observed = clock.observe(sample(database_now + 903, before, late));
        let Observed::Slewed { by } = observed else { panic!("{observed:?}") };
        assert!((1..=3).contains(&by), "{by}");
    }
}
