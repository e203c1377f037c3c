//! The suite's own time: that of this machine, which no fault moves.

use chrono::{DateTime, SecondsFormat};

/// UTC epoch milliseconds.
pub type Millis = i64;

/// The machine's wall clock; the servers that the suite starts read the same one.
#[expect(clippy::disallowed_methods, reason = "this is the suite's clock: it must not be the product's")]
pub fn now() -> Millis {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

/// As people read it in a report.
pub fn text(at: Millis) -> String {
    DateTime::from_timestamp_millis(at)
        .map_or_else(|| at.to_string(), |at| at.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// The time in an RFC 3339 text, as the management API writes times.
pub fn parse(text: &str) -> Option<Millis> {
    Some(DateTime::parse_from_rfc3339(text).ok()?.timestamp_millis())
}
