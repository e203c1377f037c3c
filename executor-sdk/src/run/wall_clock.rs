//! The only place that reads the system's time.
//!
//! An executor has no database whose clock it could follow. It uses its own clock for three things only: the stamp of
//! log lines, the age of log folders, and the refusal of runs that are late by more than the tolerated clock error.

use std::time::{SystemTime, UNIX_EPOCH};

/// UTC epoch milliseconds.
#[expect(clippy::disallowed_methods, reason = "the executor's one reading of the system's time")]
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |elapsed| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}
