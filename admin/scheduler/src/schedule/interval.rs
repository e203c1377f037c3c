//! Fixed rate and fixed delay.

use std::ops::RangeInclusive;

use chrono::{DateTime, NaiveDateTime};

use crate::calendar::WallTimes;
use crate::field_error::FieldError;
use crate::time::{Millis, round_up_to_second};

/// The longest period or delay: a year of 365 days.
const MAX_SECONDS: i64 = 31_536_000;

/// Periods in milliseconds.
const PERIODS_MS: RangeInclusive<i64> = 50..=3_600_000;

fn check_seconds(seconds: i64, kind: &str) -> Result<i64, FieldError> {
    if (1..=MAX_SECONDS).contains(&seconds) {
        return Ok(seconds);
    }
    let message = format!("{seconds} is not allowed; a {kind} has 1 to {MAX_SECONDS} seconds");
    Err(FieldError::new("schedule.seconds", message))
}

/// A fixed period from the anchor on: `anchor + k · period`, k ≥ 1. It does not drift, and a restart does not move it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FixedRate {
    period_ms: i64,
    anchor_at: Millis,
}

impl FixedRate {
    /// A period of 1 to 31,536,000 s from `anchor_at` on, which is rounded down to its second.
    ///
    /// # Errors
    /// Names `schedule.seconds` and the range.
    pub fn new(seconds: i64, anchor_at: Millis) -> Result<Self, FieldError> {
        Ok(Self::from_second(check_seconds(seconds, "fixed rate")? * 1_000, anchor_at))
    }

    /// A period of 50 to 3,600,000 ms.
    ///
    /// # Errors
    /// Names `schedule.milliseconds` and the range.
    pub fn in_milliseconds(milliseconds: i64, anchor_at: Millis) -> Result<Self, FieldError> {
        if !PERIODS_MS.contains(&milliseconds) {
            let message = format!("{milliseconds} is not allowed; a period has 50 to 3600000 milliseconds");
            return Err(FieldError::new("schedule.milliseconds", message));
        }
        Ok(Self::from_second(milliseconds, anchor_at))
    }

    const fn from_second(period_ms: i64, anchor_at: Millis) -> Self {
        Self { period_ms, anchor_at: anchor_at.div_euclid(1_000) * 1_000 }
    }

    /// The first instant after `t`.
    pub fn next_after(&self, t: Millis) -> Option<Millis> {
        let period = self.period_ms;
        let periods = t.checked_sub(self.anchor_at)?.div_euclid(period).checked_add(1)?.max(1);
        periods.checked_mul(period)?.checked_add(self.anchor_at)
    }
}

/// In UTC, where every day has 24 hours.
impl WallTimes for FixedRate {
    fn at_or_after(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let next = self.next_after(from.and_utc().timestamp_millis() - 1)?;
        Some(DateTime::from_timestamp_millis(next)?.naive_utc())
    }

    fn has_every_hour(&self) -> bool {
        true
    }
}

/// A fixed delay after the end of the last run, whatever its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FixedDelay {
    seconds: i64,
}

impl FixedDelay {
    /// A delay of 1 to 31,536,000 s.
    ///
    /// # Errors
    /// Names `schedule.seconds` and the range.
    pub fn new(seconds: i64) -> Result<Self, FieldError> {
        let seconds = check_seconds(seconds, "fixed delay")?;
        Ok(Self { seconds })
    }

    /// The first whole second that is at least the delay after `ended_at`.
    pub fn after_end(self, ended_at: Millis) -> Option<Millis> {
        round_up_to_second(ended_at.checked_add(self.seconds * 1_000)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_in_milliseconds_counts_from_the_second_of_its_anchor() {
        let rate = FixedRate::in_milliseconds(50, 1_700_000_003_999).unwrap();
        assert_eq!(rate.next_after(1_700_000_003_000), Some(1_700_000_003_050));
        assert_eq!(rate.next_after(1_700_000_003_050), Some(1_700_000_003_100));
        assert_eq!(rate.next_after(1_700_000_004_017), Some(1_700_000_004_050));
        for wrong in [0, 49, 3_600_001] {
            let error = FixedRate::in_milliseconds(wrong, 0).unwrap_err();
            let text = format!("{wrong} is not allowed; a period has 50 to 3600000 milliseconds");
            assert_eq!((error.field.as_str(), error.message), ("schedule.milliseconds", text));
        }
    }

    #[test]
    fn counts_from_the_second_of_the_anchor() {
        let rate = FixedRate::new(10, 1_700_000_003_999).unwrap();
        assert_eq!(rate.next_after(0), Some(1_700_000_013_000), "the first is one period after the anchor");
        assert_eq!(rate.next_after(1_700_000_013_000), Some(1_700_000_023_000));
        assert_eq!(rate.next_after(1_700_000_012_999), Some(1_700_000_013_000));
        assert_eq!(rate.next_after(i64::MAX), None);
        assert_eq!(rate.next_after(i64::MIN), None);
    }

    // covers: 000-3, 002-4
    #[test]
    fn a_period_of_1_s_does_not_drift() {
        let rate = FixedRate::new(1, 500).unwrap();
        let fires: Vec<_> = std::iter::successors(rate.next_after(0), |&t| rate.next_after(t)).take(600).collect();
        assert_eq!(fires, (1..=600).map(|second| second * 1_000).collect::<Vec<_>>());
    }

    #[test]
    fn the_period_has_a_range() {
        for seconds in [0, -1, MAX_SECONDS + 1] {
            let error = FixedRate::new(seconds, 0).unwrap_err();
            assert_eq!(error.field, "schedule.seconds");
            let message = format!("{seconds} is not allowed; a fixed rate has 1 to 31536000 seconds");
            assert_eq!(error.message, message);
        }
    }
}
