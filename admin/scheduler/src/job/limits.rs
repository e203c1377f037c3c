//! The limits of a job's members and of a run's parameters.

use std::ops::RangeInclusive;

use super::placeholders::check_placeholders;

/// Maximum number of characters of a job's name.
pub const NAME_CHARS: usize = 255;
/// Maximum number of characters of a handler's name.
pub const HANDLER_CHARS: usize = 255;
/// Maximum number of characters of a job's key.
pub const KEY_CHARS: usize = 64;
/// Maximum number of characters of a job's description.
pub const DESCRIPTION_CHARS: usize = 1_000;
/// Maximum number of characters of a job's owner.
pub const OWNER_CHARS: usize = 100;
/// Maximum number of tags of a job.
pub const TAGS: usize = 10;
/// Maximum number of characters of a tag.
pub const TAG_CHARS: usize = 32;
/// Maximum size of the parameters, in bytes: 64 KiB.
pub const PARAMS_BYTES: usize = 65_536;
/// Maximum size of a script's source, in bytes: 256 KiB.
pub const SCRIPT_BYTES: usize = 262_144;
/// Number of characters of the remark on a new source.
pub const REMARK_CHARS: RangeInclusive<usize> = 4..=100;
/// Range of the number of parts of a fire; 1: it is not split.
pub const PARTS: RangeInclusive<i64> = 1..=1_000;
/// Maximum number of children of a job.
pub const CHILDREN: usize = 100;
/// Range of `misfire_threshold_seconds`.
pub const MISFIRE_THRESHOLD_SECONDS: RangeInclusive<i64> = 1..=86_400;
/// Range of `misfire_limit`.
pub const MISFIRE_LIMIT: RangeInclusive<i64> = 1..=1_000;
/// Range of `misfire_window_seconds`.
pub const MISFIRE_WINDOW_SECONDS: RangeInclusive<i64> = 1..=86_400;
/// Range of `overlap_queue`.
pub const OVERLAP_QUEUE: RangeInclusive<i64> = 1..=1_000;
/// Range of `max_concurrent`.
pub const MAX_CONCURRENT: RangeInclusive<i64> = 1..=1_000;
/// Maximum number of limits that a job names.
pub const LIMITS: usize = 4;
/// Range of `priority`, in seconds.
pub const PRIORITY: RangeInclusive<i64> = -3_600..=3_600;
/// Range of `timeout_seconds`; 0 is no time-out.
pub const TIMEOUT_SECONDS: RangeInclusive<i64> = 0..=604_800;
/// Range of `retries`.
pub const RETRIES: RangeInclusive<i64> = 0..=100;
/// Range of `flag_after_seconds`; 0 is the server's default.
pub const FLAG_AFTER_SECONDS: RangeInclusive<i64> = 0..=86_400;
/// Range of `pause_after_failures`; 0 is never.
pub const PAUSE_AFTER_FAILURES: RangeInclusive<i64> = 0..=1_000;
/// Range of a job's id: `jobId` is a 32-bit integer in Java.
pub const JOB_IDS: RangeInclusive<i64> = 1..=i32::MAX as i64;

/// Checks the parameters of a job or a run.
///
/// # Errors
/// Says which limit is exceeded, or which placeholder is wrong.
pub fn check_params(text: &str) -> Result<(), String> {
    if text.len() > PARAMS_BYTES {
        return Err(format!("has {} bytes; at most {PARAMS_BYTES} (64 KiB) are allowed", text.len()));
    }
    // PostgreSQL cannot store NUL in a text.
    if text.contains('\0') {
        return Err("must not contain the character NUL".to_owned());
    }
    check_placeholders(text)
}
