//! Moments as text: RFC 3339.

use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Millis;

/// A moment of a draft: any offset is read, UTC is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment(Millis);

impl From<Millis> for Moment {
    fn from(at: Millis) -> Self {
        Self(at)
    }
}

impl From<Moment> for Millis {
    fn from(moment: Moment) -> Self {
        moment.0
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text(self.0))
    }
}

impl<'de> Deserialize<'de> for Moment {
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

/// A moment in UTC, with milliseconds only if there are any.
pub(crate) fn text(at: Millis) -> String {
    DateTime::from_timestamp_millis(at)
        .map_or_else(|| at.to_string(), |time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}
