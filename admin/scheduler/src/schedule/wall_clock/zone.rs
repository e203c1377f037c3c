//! A zone's clock: what it shows at a second of UTC, when it shows a time, and when it is moved.
//!
//! Seconds are UTC epoch seconds. What lies outside the years 1 to 9999 does not exist.

use chrono::{DateTime, Datelike, MappedLocalTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::{GapInfo, Tz};

/// The distance at which two looks at the offset miss no change between them, in s. No zone changes its offset
/// twice within it.
const LOOK: i64 = 6 * 3_600;

/// What the clock shows.
pub(super) fn shown(zone: Tz, second: i64) -> Option<NaiveDateTime> {
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

/// When the clock shows a time: never, once, or twice.
pub(super) enum Shows {
    Never,
    Once(i64),
    Twice(i64, i64),
}

pub(super) fn shows(zone: Tz, local: NaiveDateTime) -> Shows {
    match zone.from_local_datetime(&local) {
        MappedLocalTime::None => Shows::Never,
        MappedLocalTime::Single(at) => Shows::Once(at.timestamp()),
        MappedLocalTime::Ambiguous(one, other) => {
            let (one, other) = (one.timestamp(), other.timestamp());
            Shows::Twice(one.min(other), one.max(other))
        }
    }
}

/// The first second after the gap in which a time that the clock never shows would lie.
pub(super) fn gap_end(zone: Tz, local: NaiveDateTime) -> Option<i64> {
    GapInfo::new(&local, &zone)?.end.map(|end| end.timestamp())
}

/// The first second in `(from, to]` at which the clock is moved.
pub(super) fn change_in(zone: Tz, from: i64, to: i64) -> Option<i64> {
    let before = offset(zone, from);
    let mut seen = from;
    while seen < to {
        let look = (seen + LOOK).min(to);
        if offset(zone, look) != before {
            return Some(bisect(zone, seen, look, before));
        }
        seen = look;
    }
    None
}

fn bisect(zone: Tz, mut before: i64, mut after: i64, offset_before: i64) -> i64 {
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        if offset(zone, middle) == offset_before { before = middle } else { after = middle }
    }
    after
}

/// If the clock shows a time for the second of two times: when it was moved back for that.
pub(super) fn moved_back(zone: Tz, local: NaiveDateTime) -> Option<(i64, i64, i64)> {
    match shows(zone, local) {
        Shows::Twice(first, second) => Some((first, second, change_in(zone, first, second)?)),
        _ => None,
    }
}
