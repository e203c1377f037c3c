//! The delay between a failed attempt and the next one.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::checks::check_number;

/// Seconds from a failure to the first retry under [`RetryDelay::Exponential`].
const BASE_SECONDS: RangeInclusive<i64> = 0..=86_400;
/// The longest delay, in seconds: a week.
const CAP_SECONDS: RangeInclusive<i64> = 1..=604_800;
/// Delays of [`RetryDelay::Fixed`], in seconds.
const FIXED_SECONDS: RangeInclusive<i64> = 0..=604_800;
/// Maximum number of delays of [`RetryDelay::Fixed`].
const FIXED_COUNT: usize = 100;

/// How long a job waits between a failed attempt and the next one.
///
/// In text (forms, the database) `exponential 5 300` and `fixed 10 60 600`:
///
/// ```
/// use carillon_scheduler::RetryDelay;
///
/// let delay: RetryDelay = "fixed 10 60".parse().unwrap();
/// assert_eq!(delay, RetryDelay::Fixed { seconds: vec![10, 60] });
/// assert_eq!(RetryDelay::default().to_string(), "exponential 5 300");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "snake_case",
    deny_unknown_fields,
    expecting = "a delay as an object, such as {\"kind\":\"exponential\"}"
)]
pub enum RetryDelay {
    /// Doubled with each attempt, with a jitter of up to ± 20 %, so that the retries of many jobs that failed together (an
    /// executor was down) spread out.
    Exponential {
        /// After the first failure, in seconds, 0 to 86,400. 0 retries at once, as xxl-job does.
        #[serde(default = "base")]
        base_seconds: i64,
        /// The longest delay, without jitter, in seconds, 1 to 604,800.
        #[serde(default = "cap")]
        cap_seconds: i64,
    },
    /// Exactly these delays; the last one is used for all further retries.
    Fixed {
        /// In seconds, 0 to 604,800 each, 1 to 100 of them.
        seconds: Vec<i64>,
    },
}

const fn base() -> i64 {
    5
}

const fn cap() -> i64 {
    300
}

impl Default for RetryDelay {
    /// 5 s, doubled with each attempt, at most 5 min.
    fn default() -> Self {
        Self::Exponential { base_seconds: base(), cap_seconds: cap() }
    }
}

impl RetryDelay {
    /// Milliseconds from the failure of attempt `failed_attempt` (1, 2 …) to the next one. Exponential:
    /// `min(cap, base · 2^(n−1))`, with a jitter of up to ± 20 % by `random01`, a number in `0.0..=1.0`.
    pub fn delay_ms(&self, failed_attempt: i32, random01: f64) -> i64 {
        let earlier = failed_attempt.max(1) as usize - 1;
        match self {
            Self::Exponential { base_seconds, cap_seconds } => {
                let delay = ms(*base_seconds).saturating_mul(1 << earlier.min(40));
                let jitter = 0.8 + 0.4 * random01.clamp(0.0, 1.0);
                (delay.min(ms(*cap_seconds)) as f64 * jitter).round() as i64
            }
            Self::Fixed { seconds } => {
                let delay = seconds.get(earlier).or(seconds.last());
                delay.map_or(0, |seconds| ms(*seconds))
            }
        }
    }

    /// Checks that all numbers are within their ranges.
    ///
    /// # Errors
    /// Names the number and its range.
    pub fn validate(&self) -> Result<(), String> {
        match self {
            Self::Exponential { base_seconds, cap_seconds } => {
                check("base_seconds", *base_seconds, &BASE_SECONDS)?;
                check("cap_seconds", *cap_seconds, &CAP_SECONDS)?;
                if base_seconds > cap_seconds {
                    return Err(format!("base_seconds {base_seconds} is above cap_seconds {cap_seconds}"));
                }
                Ok(())
            }
            Self::Fixed { seconds } if !(1..=FIXED_COUNT).contains(&seconds.len()) => {
                Err(format!("seconds has {} numbers; 1 to {FIXED_COUNT}", seconds.len()))
            }
            Self::Fixed { seconds } => seconds.iter().try_for_each(|number| check("seconds", *number, &FIXED_SECONDS)),
        }
    }
}

fn ms(seconds: i64) -> i64 {
    seconds.max(0).saturating_mul(1_000)
}

fn check(name: &str, value: i64, range: &RangeInclusive<i64>) -> Result<(), String> {
    check_number(value, range, " seconds").map_err(|message| format!("{name} {message}"))
}

impl fmt::Display for RetryDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exponential { base_seconds, cap_seconds } => write!(f, "exponential {base_seconds} {cap_seconds}"),
            Self::Fixed { seconds } => {
                f.write_str("fixed")?;
                seconds.iter().try_for_each(|number| write!(f, " {number}"))
            }
        }
    }
}

/// A text that is not a delay.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a retry delay; it reads `exponential 5 300` (first and longest delay in seconds) or `fixed 10 60 600`"
)]
pub struct RetryDelayError(String);

impl FromStr for RetryDelay {
    type Err = RetryDelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| RetryDelayError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<RetryDelay> {
    let mut words = text.split([' ', ',', '\t']).filter(|word| !word.is_empty());
    let kind = words.next()?;
    let numbers: Vec<i64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    match (kind, numbers.as_slice()) {
        ("exponential", &[base_seconds, cap_seconds]) => Some(RetryDelay::Exponential { base_seconds, cap_seconds }),
        ("fixed", &[_, ..]) => Some(RetryDelay::Fixed { seconds: numbers }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exponential(base_seconds: i64, cap_seconds: i64) -> RetryDelay {
        RetryDelay::Exponential { base_seconds, cap_seconds }
    }

    // covers: 002-36
    #[test]
    fn delays_double_up_to_the_cap() {
        let policy = RetryDelay::default();
        let delays: Vec<i64> = (1..=8).map(|attempt| policy.delay_ms(attempt, 0.5)).collect();
        assert_eq!(delays, [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
        assert_eq!(policy.delay_ms(i32::MAX, 0.5), 300_000);
    }

    #[test]
    fn jitter_is_at_most_a_fifth() {
        let policy = RetryDelay::default();
        assert_eq!(policy.delay_ms(1, 0.0), 4_000);
        assert_eq!(policy.delay_ms(1, 1.0), 6_000);
        assert_eq!(policy.delay_ms(1, 7.0), 6_000);
    }

    #[test]
    fn base_zero_retries_at_once() {
        assert_eq!(exponential(0, 300).delay_ms(5, 0.9), 0);
    }

    #[test]
    fn fixed_delays_are_exact_and_the_last_one_repeats() {
        let delay = RetryDelay::Fixed { seconds: vec![0, 10, 60] };
        let delays: Vec<i64> = (1..=5).map(|n| delay.delay_ms(n, 0.1)).collect();
        assert_eq!(delays, [0, 10_000, 60_000, 60_000, 60_000]);
    }

    #[test]
    fn the_text_round_trips() {
        for delay in [RetryDelay::default(), exponential(0, 1), RetryDelay::Fixed { seconds: vec![1, 604_800] }] {
            assert_eq!(delay.to_string().parse(), Ok(delay));
        }
        for wrong in ["", "fixed", "exponential 5", "fixed x", "linear 5 5"] {
            let error = wrong.parse::<RetryDelay>().unwrap_err().to_string();
            assert!(error.contains("exponential 5 300"), "{error}");
        }
    }

    #[test]
    fn a_number_out_of_range_is_named() {
        let error = |delay: RetryDelay| delay.validate().unwrap_err();
        assert_eq!(error(exponential(-1, 300)), "base_seconds -1 is not allowed; 0 to 86400 seconds");
        assert_eq!(error(exponential(500, 300)), "base_seconds 500 is above cap_seconds 300");
        assert_eq!(error(RetryDelay::Fixed { seconds: vec![] }), "seconds has 0 numbers; 1 to 100");
        assert_eq!(
            error(RetryDelay::Fixed { seconds: vec![5, 700_000] }),
            "seconds 700000 is not allowed; 0 to 604800 seconds"
        );
    }
}
