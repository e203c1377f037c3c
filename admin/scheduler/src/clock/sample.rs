use std::time::Duration;

use crate::time::Millis;

/// Two clocks agree if they differ by at most this, in ms. The samples of a step have to agree with each other.
pub const AGREE_MS: i64 = 2_000;

/// One reading of the clock that is followed: the database's, or this machine's if the database has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// UTC epoch ms.
    pub db_now: Millis,
    /// [`Clock::monotonic`](super::Clock::monotonic) before the query.
    pub before: Duration,
    /// [`Clock::monotonic`](super::Clock::monotonic) after it.
    pub after: Duration,
    /// Another clock, this machine's or Redis', agrees within [`AGREE_MS`]; or there is no other clock.
    pub confirmed: bool,
}

impl Sample {
    /// The smallest offset ("epoch ms − monotonic ms") that this reading allows.
    pub(super) fn min_offset(&self) -> i64 {
        self.db_now - millis(self.after)
    }

    /// The greatest offset that this reading allows.
    pub(super) fn max_offset(&self) -> i64 {
        self.db_now - millis(self.before)
    }

    /// The offset if the clock was read in the middle of the round trip.
    pub(super) fn middle_offset(&self) -> i64 {
        self.db_now - millis((self.before + self.after) / 2)
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
    /// More than 5 s away: taken only after three samples that agree and with a second clock that agrees. Until then
    /// claims and marks wait.
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

/// Whole milliseconds; a duration beyond the range of an `i64` counts as its maximum.
pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
