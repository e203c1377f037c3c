//! The clock of a time zone, in seconds: which local time it shows at a second of UTC, and when it shows a local time.
//!
//! Seconds are UTC epoch seconds. Only the years 1 to 9999 are supported.

use chrono::{DateTime, Datelike, MappedLocalTime, NaiveDateTime};

use crate::zone::Zone;

/// The local time at a second.
pub(super) fn local_time(zone: Zone, second: i64) -> Option<NaiveDateTime> {
    let local = DateTime::from_timestamp(second + offset(zone, second), 0)?.naive_utc();
    (1..=9999).contains(&local.year()).then_some(local)
}

/// Seconds that the clock is ahead of UTC.
pub(super) fn offset(zone: Zone, second: i64) -> i64 {
    zone.offset_at(second).into()
}

/// When the clock of a zone shows a local time.
pub(super) enum LocalTime {
    /// The time lies in a gap.
    Never,
    Once(i64),
    /// Both passes of a repeated hour, the earlier first.
    Twice(i64, i64),
}

impl LocalTime {
    pub fn new(zone: Zone, local: NaiveDateTime) -> Self {
        let second = local.and_utc().timestamp();
        match zone.offsets_of(local).map(|offset| second - i64::from(offset)) {
            MappedLocalTime::None => Self::Never,
            MappedLocalTime::Single(at) => Self::Once(at),
            MappedLocalTime::Ambiguous(first, second) => Self::Twice(first, second),
        }
    }
}

/// For a local time that occurs twice: its first and its second occurrence, and the second at which the clock was moved
/// back between them.
pub(super) fn repeated(zone: Zone, local: NaiveDateTime) -> Option<(i64, i64, i64)> {
    match LocalTime::new(zone, local) {
        LocalTime::Twice(first, second) => Some((first, second, zone.change_in(first, second)?)),
        _ => None,
    }
}
