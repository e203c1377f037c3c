//! Times of the API: RFC 3339, UTC, milliseconds.

use carillon_scheduler::Millis;
use chrono::{DateTime, SecondsFormat};
use serde::Serializer;

pub fn write(at: Millis) -> String {
    DateTime::from_timestamp_millis(at)
        .map_or_else(String::new, |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Any offset is taken; a `+` that a query string turned into a blank is understood.
pub fn read(text: &str) -> Option<Millis> {
    let parse = |text: &str| DateTime::parse_from_rfc3339(text).ok();
    let time = parse(text).or_else(|| parse(&text.replace(' ', "+")))?;
    Some(time.timestamp_millis())
}

/// `#[serde(serialize_with = …)]`
pub fn required<S: Serializer>(at: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&write(*at))
}

/// `#[serde(serialize_with = …)]`
pub fn optional<S: Serializer>(at: &Option<Millis>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => required(at, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_both_ways() {
        assert_eq!(write(1_751_641_200_007), "2025-07-04T15:00:00.007Z");
        assert_eq!(write(0), "1970-01-01T00:00:00.000Z");
        for text in ["2025-07-04T15:00:00.007Z", "2025-07-04T17:00:00.007+02:00", "2025-07-04T17:00:00.007 02:00"] {
            assert_eq!(read(text), Some(1_751_641_200_007), "{text}");
        }
        assert_eq!(read("2025-07-04"), None);
        assert_eq!(read("1751641200007"), None);
    }
}
