//! The only place that reads the system's time.
//!
//! Everything else is given its `now`. A node's wall clock decides nothing: [`SystemClock`] carries the database's
//! time on the monotonic clock, so all nodes of one database agree, whatever their hosts think.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Millis;

/// What a single observation may move the clock by, in ms.
const SLEW_MS: i64 = 50;
/// A larger difference is a step and needs confirmation, in ms.
const STEP_MS: i64 = 5_000;
/// Samples of a step count as agreeing when they lie this close together, in ms.
const AGREE_MS: i64 = 2_000;
/// Agreeing samples that a step needs.
const STEP_SAMPLES: u32 = 3;

/// Where `now` comes from.
pub trait Clock: Send + Sync {
    /// UTC epoch milliseconds.
    fn now(&self) -> Millis;

    /// Time since a fixed start; never goes back. Leases are trusted by it.
    fn monotonic(&self) -> Duration;

    /// Tells the clock what the database's clock said. `asked` and `answered` are [`Clock::monotonic`] before and
    /// after the question. A clock that follows nobody ignores it.
    fn observe(&self, _db_now: Millis, _asked: Duration, _answered: Duration) -> Observed {
        Observed::Slewed { by: 0 }
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Millis {
        (**self).now()
    }

    fn monotonic(&self) -> Duration {
        (**self).monotonic()
    }

    fn observe(&self, db_now: Millis, asked: Duration, answered: Duration) -> Observed {
        (**self).observe(db_now, asked, answered)
    }
}

/// What an observation did to the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// Moved by so many ms, at most 50 either way (the first observation: by whatever it takes).
    Slewed {
        /// Milliseconds; positive is forward.
        by: i64,
    },
    /// More than 5 s away: not taken before three agreeing samples. Claims and marks should wait.
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

/// How the database's clock is followed. All offsets are "epoch ms − monotonic ms".
#[derive(Debug)]
struct Followed {
    offset: i64,
    observed: bool,
    step: Option<(i64, u32)>,
}

impl SystemClock {
    /// Starts from the system's wall clock.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn new() -> Self {
        let since_epoch = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let offset = millis(since_epoch);
        Self {
            start: Instant::now(),
            state: Mutex::new(Followed {
                offset,
                observed: false,
                step: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, Followed> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

    fn observe(&self, db_now: Millis, asked: Duration, answered: Duration) -> Observed {
        let mut state = self.state();
        let (earliest, latest) = (db_now - millis(answered), db_now - millis(asked));
        // An answer that was long on its way says little: where ours is possible, or nearly so, it moves as little as it
        // must. Taking the middle would move it by half of what a busy database makes us wait.
        let nearest = state.offset.clamp(earliest, latest);
        let sample = if (nearest - state.offset).abs() <= SLEW_MS {
            nearest
        } else {
            db_now - millis((asked + answered) / 2)
        };
        state.observe(sample)
    }
}

impl Followed {
    /// `sample` is the offset that the database's answer asks for.
    fn observe(&mut self, sample: i64) -> Observed {
        let difference = sample - self.offset;
        if !self.observed {
            self.observed = true;
            self.offset = sample;
            return Observed::Slewed { by: difference };
        }
        if difference.abs() <= STEP_MS {
            self.step = None;
            let by = difference.clamp(-SLEW_MS, SLEW_MS);
            self.offset += by;
            return Observed::Slewed { by };
        }
        self.confirm(sample, difference)
    }

    /// Samples are compared with the first of their row, so a drifting clock cannot walk through the guard.
    fn confirm(&mut self, sample: i64, difference: i64) -> Observed {
        let (first, samples) = match self.step {
            Some((first, samples)) if (sample - first).abs() <= AGREE_MS => (first, samples + 1),
            _ => (sample, 1),
        };
        if samples < STEP_SAMPLES {
            self.step = Some((first, samples));
            return Observed::Held { samples };
        }
        self.step = None;
        self.offset = sample;
        Observed::Stepped { by: difference }
    }
}

/// A clock that stands still until it is moved. For tests, also of other crates.
#[derive(Debug)]
pub struct ManualClock {
    state: Mutex<(Millis, Duration)>,
}

impl ManualClock {
    /// Starts at `start`, with a monotonic time of zero.
    pub const fn new(start: Millis) -> Self {
        Self {
            state: Mutex::new((start, Duration::ZERO)),
        }
    }

    /// Lets time pass: both clocks move.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state();
        state.0 += millis(by);
        state.1 += by;
    }

    /// Sets the wall clock, forward or back; the monotonic one stays.
    pub fn set(&self, now: Millis) {
        self.state().0 = now;
    }

    fn state(&self) -> MutexGuard<'_, (Millis, Duration)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Millis {
        self.state().0
    }

    fn monotonic(&self) -> Duration {
        self.state().1
    }
}

/// Whole milliseconds; a duration longer than the years of an `i64` counts as the longest.
fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(offset: i64) -> Followed {
        let mut followed = Followed {
            offset: 0,
            observed: false,
            step: None,
        };
        assert_eq!(followed.observe(offset), Observed::Slewed { by: offset });
        followed
    }

    #[test]
    fn slews_at_most_50_ms() {
        let mut clock = followed(1_000_000);
        assert_eq!(clock.observe(1_000_020), Observed::Slewed { by: 20 });
        assert_eq!(clock.observe(1_003_000), Observed::Slewed { by: 50 });
        assert_eq!(clock.observe(996_000), Observed::Slewed { by: -50 });
        assert_eq!(clock.offset, 1_000_020);
    }

    #[test]
    fn a_step_needs_three_samples_that_agree() {
        let mut clock = followed(0);
        assert_eq!(clock.observe(60_000), Observed::Held { samples: 1 });
        assert_eq!(clock.observe(61_000), Observed::Held { samples: 2 });
        assert_eq!(clock.observe(70_000), Observed::Held { samples: 1 });
        assert_eq!(clock.observe(70_000), Observed::Held { samples: 2 });
        assert_eq!(clock.offset, 0, "a held sample moves nothing");
        assert_eq!(clock.observe(70_500), Observed::Stepped { by: 70_500 });
        assert_eq!(clock.offset, 70_500);
    }

    #[test]
    fn one_near_sample_forgets_the_step() {
        let mut clock = followed(0);
        clock.observe(-9_000);
        clock.observe(-9_000);
        assert_eq!(clock.observe(0), Observed::Slewed { by: 0 });
        assert_eq!(clock.observe(-9_000), Observed::Held { samples: 1 });
    }

    #[test]
    fn the_middle_of_the_round_trip_counts() {
        let clock = SystemClock::new();
        clock.observe(
            1_000_000,
            Duration::from_millis(100),
            Duration::from_millis(300),
        );
        let (now, monotonic) = (clock.now(), millis(clock.monotonic()));
        assert!(
            (now - monotonic - 999_800).abs() <= 1_000,
            "{now} at {monotonic}"
        );
    }

    #[test]
    fn a_slow_answer_moves_nothing_that_it_does_not_contradict() {
        let clock = SystemClock::new();
        let asked = clock.monotonic();
        let database_now = clock.now();
        // The database was read at once; its answer took almost a second.
        let late = asked + Duration::from_millis(900);
        let observed = clock.observe(database_now, asked, late);
        assert_eq!(observed, Observed::Slewed { by: 0 });
        // A millisecond more than is possible is no reason to go to the middle.
        let observed = clock.observe(database_now + 903, asked, late);
        let Observed::Slewed { by } = observed else {
            panic!("{observed:?}")
        };
        assert!((1..=3).contains(&by), "{by}");
    }

    #[test]
    fn the_manual_clock_moves_when_told() {
        let clock = ManualClock::new(1_000);
        clock.advance(Duration::from_millis(1_500));
        assert_eq!(
            (clock.now(), clock.monotonic()),
            (2_500, Duration::from_millis(1_500))
        );
        clock.set(10);
        assert_eq!(
            (clock.now(), clock.monotonic()),
            (10, Duration::from_millis(1_500))
        );
    }
}
