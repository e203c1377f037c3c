//! The clock of a time zone: which local time it shows at a second of UTC, when it shows a local time, and when it is
//! moved.
//!
//! Seconds are UTC epoch seconds. Only the years 1 to 9999 are supported.

use chrono::{DateTime, Datelike, MappedLocalTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::{GapInfo, Tz};

/// Step of the search for a change of the offset, in s. No zone changes its offset twice within it, so comparing the
/// offsets at both ends of a step misses no change.
const SEARCH_STEP: i64 = 6 * 3_600;

/// The local time at a second.
pub(super) fn local_time(zone: Tz, second: i64) -> Option<NaiveDateTime> {
    let utc = DateTime::from_timestamp(second, 0).filter(|utc| (1..=9999).contains(&utc.year()))?;
    Some(utc.with_timezone(&zone).naive_local())
}

/// Seconds that the clock is ahead of UTC.
pub(super) fn offset(zone: Tz, second: i64) -> i64 {
    let Some(utc) = DateTime::from_timestamp(second, 0) else {
        return 0;
    };
    i64::from(zone.offset_from_utc_datetime(&utc.naive_utc()).fix().local_minus_utc())
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
    pub fn new(zone: Tz, local: NaiveDateTime) -> Self {
        match zone.from_local_datetime(&local) {
            MappedLocalTime::None => Self::Never,
            MappedLocalTime::Single(at) => Self::Once(at.timestamp()),
            MappedLocalTime::Ambiguous(one, other) => {
                let (one, other) = (one.timestamp(), other.timestamp());
                Self::Twice(one.min(other), one.max(other))
            }
        }
    }
}

/// The first second after the gap in which `local` lies.
pub(super) fn gap_end(zone: Tz, local: NaiveDateTime) -> Option<i64> {
    GapInfo::new(&local, &zone)?.end.map(|end| end.timestamp())
}

/// The first second in `(from, to]` at which the clock is moved.
pub(super) fn change_in(zone: Tz, from: i64, to: i64) -> Option<i64> {
    let before = offset(zone, from);
    let mut checked = from;
    while checked < to {
        let next = (checked + SEARCH_STEP).min(to);
        if offset(zone, next) != before {
            return Some(bisect_change(zone, checked, next, before));
        }
        checked = next;
    }
    None
}

fn bisect_change(zone: Tz, mut before: i64, mut after: i64, offset_before: i64) -> i64 {
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        if offset(zone, middle) == offset_before { before = middle } else { after = middle }
    }
    after
}

/// For a local time that occurs twice: its first and its second occurrence, and the second at which the clock was moved
/// back between them.
pub(super) fn repeated(zone: Tz, local: NaiveDateTime) -> Option<(i64, i64, i64)> {
    match LocalTime::new(zone, local) {
        LocalTime::Twice(first, second) => Some((first, second, change_in(zone, first, second)?)),
        _ => None,
    }
}
