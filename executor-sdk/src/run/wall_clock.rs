//! The only place that reads the system's time.
//!
//! An executor has no database whose clock it could follow. It uses its own clock for a few things only: the stamp of
//! log lines, the age of log folders, the time of signatures, and the refusal of runs that are late by more than the tolerated
//! clock error.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// UTC epoch milliseconds.
#[expect(clippy::disallowed_methods, reason = "the executor's one reading of the system's time")]
pub(crate) fn now_ms() -> i64 {
    to_ms(SystemTime::now())
}

pub(crate) fn to_ms(time: SystemTime) -> i64 {
    let ms = |elapsed: Duration| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -ms(before.duration()), ms)
}

/// The epoch for an instant that `SystemTime` cannot represent.
pub(crate) fn from_ms(ms: i64) -> SystemTime {
    let distance = Duration::from_millis(ms.unsigned_abs());
    let time = if ms < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) };
    time.unwrap_or(UNIX_EPOCH)
}
