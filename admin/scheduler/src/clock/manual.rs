//! The clock for tests.

use std::time::Duration;

use parking_lot::Mutex;

use super::sample::{Observed, Sample, millis};
use super::step_guard::StepGuard;
use super::time_source::Clock;
use crate::time::Millis;

/// A clock that advances only by its methods. For tests, also of other crates.
#[derive(Debug)]
pub struct ManualClock {
    state: Mutex<Manual>,
    follows: bool,
}

#[derive(Debug)]
struct Manual {
    monotonic: Duration,
    guard: StepGuard,
    /// "epoch ms − monotonic ms", as of `now`.
    wall: i64,
    suspended: Duration,
}

impl ManualClock {
    /// Starts at `start`, with a monotonic time of zero, and follows no other clock.
    pub const fn new(start: Millis) -> Self {
        Self {
            state: Mutex::new(Manual {
                monotonic: Duration::ZERO,
                guard: StepGuard::new(start),
                wall: start,
                suspended: Duration::ZERO,
            }),
            follows: false,
        }
    }

    /// As [`ManualClock::new`], but it takes observations of another clock, as
    /// [`SystemClock`](super::SystemClock) does.
    pub const fn following(start: Millis) -> Self {
        Self { follows: true, ..Self::new(start) }
    }

    /// Advances all clocks.
    pub fn advance(&self, by: Duration) {
        self.state.lock().monotonic += by;
    }

    /// Sets [`Clock::now`], forward or back; the monotonic clock does not move.
    pub fn set(&self, now: Millis) {
        let mut state = self.state.lock();
        state.guard.offset = now - millis(state.monotonic);
    }

    /// Sets [`Clock::wall`] alone.
    pub fn set_wall(&self, now: Millis) {
        let mut state = self.state.lock();
        state.wall = now - millis(state.monotonic);
    }

    /// Suspends the machine for a time: its wall clock advances, the monotonic clock does not.
    pub fn suspend(&self, by: Duration) {
        let mut state = self.state.lock();
        state.wall += millis(by);
        state.suspended += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Millis {
        let state = self.state.lock();
        state.guard.offset + millis(state.monotonic)
    }

    fn monotonic(&self) -> Duration {
        self.state.lock().monotonic
    }

    fn observe(&self, sample: Sample) -> Observed {
        match self.follows {
            true => self.state.lock().guard.observe(sample),
            false => Observed::Slewed { by: 0 },
        }
    }

    fn wall(&self) -> Option<Millis> {
        let state = self.state.lock();
        self.follows.then(|| state.wall + millis(state.monotonic))
    }

    fn suspended(&self) -> Duration {
        self.state.lock().suspended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_clock_moves_only_by_its_methods() {
        let clock = ManualClock::new(1_000);
        clock.advance(Duration::from_millis(1_500));
        assert_eq!((clock.now(), clock.monotonic()), (2_500, Duration::from_millis(1_500)));
        clock.set(10);
        assert_eq!((clock.now(), clock.monotonic()), (10, Duration::from_millis(1_500)));
    }

    #[test]
    fn a_suspended_machine_has_a_wall_clock_that_went_on() {
        let (clock, hour) = (ManualClock::following(1_000), Duration::from_secs(3600));
        clock.suspend(hour);
        assert_eq!((clock.wall(), clock.suspended()), (Some(3_601_000), hour));
        assert_eq!((clock.now(), clock.monotonic()), (1_000, Duration::ZERO));
    }
}
