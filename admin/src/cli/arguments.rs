//! Arguments of the command line: an error for each, and times.

use carillon_scheduler::Millis;
use chrono::{DateTime, SecondsFormat};

/// An argument that cannot be used; the text says what would be right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);

/// RFC 3339 with any offset.
pub fn time(text: &str) -> Result<Millis, String> {
    let wrong = |_| format!("`{text:.64}` is no time; write RFC 3339, such as 2025-07-04T15:00:00+02:00");
    DateTime::parse_from_rfc3339(text.trim()).map(|time| time.timestamp_millis()).map_err(wrong)
}

/// RFC 3339 in UTC, with milliseconds where there are any.
pub fn format_time(at: Millis) -> String {
    let digits = if at.rem_euclid(1000) == 0 { SecondsFormat::Secs } else { SecondsFormat::Millis };
    DateTime::from_timestamp_millis(at).unwrap_or_default().to_rfc3339_opts(digits, true)
}

/// `1 job`, `2 jobs`
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
