//! A time zone, and the three questions about its clock.

use std::fmt;
use std::sync::OnceLock;

use chrono::{Datelike, MappedLocalTime, NaiveDateTime, Timelike};
use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::time::Millis;

/// A zone of the data: its name, and its data in the format TZif. The data is parsed at the first use.
pub(super) struct Entry {
    name: &'static str,
    data: &'static [u8],
    parsed: OnceLock<TimeZone>,
}

impl Entry {
    pub const fn new(name: &'static str, data: &'static [u8]) -> Self {
        Self { name, data, parsed: OnceLock::new() }
    }

    /// What is compiled in has been tested, and a folder is checked when it is read: the data can be parsed.
    fn clock(&self) -> &TimeZone {
        self.parsed.get_or_init(|| TimeZone::tzif(self.name, self.data).unwrap_or(TimeZone::UTC))
    }
}

/// UTC does not depend on the data; no data at all is parsed as UTC.
static UTC: Entry = Entry::new("UTC", &[]);

/// A time zone. Zones of one edition of the data are equal if their names are.
#[derive(Clone, Copy)]
pub struct Zone(&'static Entry);

impl Zone {
    /// The zone `UTC`.
    pub const UTC: Self = Self(&UTC);

    /// Keeps the zone until the process ends.
    pub(super) fn keep(entry: Entry) -> Self {
        Self(Box::leak(Box::new(entry)))
    }

    /// The IANA name.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    pub(super) const fn data(self) -> &'static [u8] {
        self.0.data
    }

    /// Its name today, as the program knows it: `Asia/Kolkata` for `Asia/Calcutta`.
    pub(super) fn primary_name(self) -> Option<&'static str> {
        self.0.clock().primary_iana_name()
    }

    /// Whether the zone is offered for a choice: it has its current name and is that of a place, UTC, or an offset.
    pub(super) fn is_offered(self) -> bool {
        let clock = self.0.clock();
        let has_place = clock.is_primary() && clock.location().is_some();
        has_place || self.name() == "UTC" || self.name().starts_with("Etc/GMT") && clock.is_primary()
    }

    /// Seconds that the clock is ahead of UTC at a UTC epoch second.
    pub fn offset_at(self, second: i64) -> i32 {
        self.0.clock().to_offset(timestamp(second)).seconds()
    }

    /// The day that the clock shows at a time, in days since 1970-01-01.
    pub fn day_of(self, at: Millis) -> i32 {
        let second = at.div_euclid(1000);
        let day = (second + i64::from(self.offset_at(second))).div_euclid(86_400);
        i32::try_from(day).unwrap_or(if day < 0 { i32::MIN } else { i32::MAX })
    }

    /// The offsets at which the clock shows a local time: none in a gap, two in a repeated hour (the first pass first).
    pub fn offsets_of(self, local: NaiveDateTime) -> MappedLocalTime<i32> {
        let Some(civil) = civil_time(local) else {
            return MappedLocalTime::Single(self.offset_at(local.and_utc().timestamp()));
        };
        match self.0.clock().to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => MappedLocalTime::Single(offset.seconds()),
            AmbiguousOffset::Gap { .. } => MappedLocalTime::None,
            AmbiguousOffset::Fold { before, after } => MappedLocalTime::Ambiguous(before.seconds(), after.seconds()),
        }
    }

    /// The end of the gap in which a local time lies, as a UTC epoch second; None: it lies in none.
    pub fn gap_end(self, local: NaiveDateTime) -> Option<i64> {
        let AmbiguousOffset::Gap { before, after } = self.0.clock().to_ambiguous_timestamp(civil_time(local)?).offset()
        else {
            return None;
        };
        let local = local.and_utc().timestamp();
        self.change_in(local - i64::from(after.seconds()), local - i64::from(before.seconds()))
    }

    /// The first UTC epoch second in `(from, to]` at which the offset is another one than at `from`.
    pub fn change_in(self, from: i64, to: i64) -> Option<i64> {
        let before = self.offset_at(from);
        let changes = self.0.clock().following(timestamp(from));
        let mut changes = changes.take_while(|change| change.timestamp().as_second() <= to);
        changes.find(|change| change.offset().seconds() != before).map(|change| change.timestamp().as_second())
    }
}

/// Beyond the years -9999 to 9999 an offset is that of their end.
fn timestamp(second: i64) -> Timestamp {
    let end = if second < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(second).unwrap_or(end)
}

fn civil_time(local: NaiveDateTime) -> Option<civil::DateTime> {
    let year = i16::try_from(local.year()).ok()?;
    let [month, day, hour, minute, second] =
        [local.month(), local.day(), local.hour(), local.minute(), local.second()].map(|number| number as i8);
    civil::DateTime::new(year, month, day, hour, minute, second, 0).ok()
}

impl Default for Zone {
    fn default() -> Self {
        Self::UTC
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Zone {}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
