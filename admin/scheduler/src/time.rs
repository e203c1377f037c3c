//! Instants: UTC epoch milliseconds, and their RFC 3339 text.

use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant in UTC epoch milliseconds, as every column named `…_at` holds it.
pub type Millis = i64;

/// An instant in JSON: RFC 3339 with any offset is read, UTC is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rfc3339(Millis);

impl From<Millis> for Rfc3339 {
    fn from(at: Millis) -> Self {
        Self(at)
    }
}

impl From<Rfc3339> for Millis {
    fn from(time: Rfc3339) -> Self {
        time.0
    }
}

impl Serialize for Rfc3339 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_rfc3339(self.0))
    }
}

impl<'de> Deserialize<'de> for Rfc3339 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let time = DateTime::parse_from_rfc3339(text.trim()).map_err(|_| {
            serde::de::Error::custom(format_args!(
                "`{text:.64}` is not a time; write RFC 3339 such as 2026-01-31T18:30:00Z or 2026-01-31T18:30:00+08:00"
            ))
        })?;
        Ok(Self(time.timestamp_millis()))
    }
}

/// An instant as RFC 3339 in UTC, with milliseconds only if they are not zero.
pub(crate) fn format_rfc3339(at: Millis) -> String {
    DateTime::from_timestamp_millis(at)
        .map_or_else(|| at.to_string(), |time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

/// The first whole second at or after `at`; `None` if it is beyond the range of [`Millis`].
pub(crate) fn round_up_to_second(at: Millis) -> Option<Millis> {
    Some(at.checked_add(999)?.div_euclid(1_000) * 1_000)
}
