//! Times of the API: RFC 3339, UTC, milliseconds.

use carillon_scheduler::Millis;
use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// A time as the API writes it.
#[derive(Clone, Copy)]
pub struct Time(pub Millis);

pub fn write(at: Millis) -> String {
    DateTime::from_timestamp_millis(at)
        .map_or_else(String::new, |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Any offset is accepted; a `+` that a query string turned into a blank is understood.
pub fn read(text: &str) -> Option<Millis> {
    let parse = |text: &str| DateTime::parse_from_rfc3339(text).ok();
    let time = parse(text).or_else(|| parse(&text.replace(' ', "+")))?;
    Some(time.timestamp_millis())
}

impl From<Millis> for Time {
    fn from(at: Millis) -> Self {
        Self(at)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&write(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong =
            || de::Error::custom(format!("`{text:.64}` is not a time; write RFC 3339 such as 2026-01-31T18:30:00Z"));
        read(&text).map(Self).ok_or_else(wrong)
    }
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("RFC 3339. Answers are in UTC with milliseconds; requests may have any offset"))
            .examples(["2025-07-04T15:00:00.000Z"])
            .into()
    }
}

impl ToSchema for Time {}

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
