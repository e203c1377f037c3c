//! Every change of every zone's clock within ten years, and an oracle that walks real time second by second.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use carillon_scheduler::{Zone, zone_data};
use chrono::{DateTime, NaiveDateTime, Offset, TimeDelta, TimeZone};

/// 2020-01-01 and 2030-01-01.
const YEARS: (i64, i64) = (1_577_836_800, 1_893_456_000);
/// Also some known special ones from before.
const FAMOUS: &[(&str, i64)] = &[
    ("Pacific/Apia", 1_325_239_200),   // 2011-12-30T10:00:00Z, a day that was left out
    ("Asia/Kathmandu", 504_901_800),   // 1985-12-31T18:30:00Z, by a quarter of an hour
    ("Asia/Pyongyang", 1_525_446_000), // 2018-05-04T15:00:00Z, by half an hour at the end of a day
];

/// A change: the first second at which the clock shows other times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    pub zone: Zone,
    pub at: i64,
}

pub fn shown(zone: Zone, second: i64) -> NaiveDateTime {
    let utc = DateTime::from_timestamp(second, 0).expect("in range");
    utc.with_timezone(&zone).naive_local()
}

pub fn offset(zone: Zone, second: i64) -> i32 {
    let utc = DateTime::from_timestamp(second, 0).expect("in range");
    let offset = zone.offset_from_utc_datetime(&utc.naive_utc());
    offset.fix().local_minus_utc()
}

/// The changes of a zone in `(from, to]`, unless two lie within six hours.
pub fn changes_of(zone: Zone, from: i64, to: i64) -> Vec<Change> {
    let mut changes = vec![];
    let (mut last, mut before) = (from, offset(zone, from));
    while last < to {
        let next = (last + 21_600).min(to);
        let after = offset(zone, next);
        if after != before {
            let (mut low, mut high) = (last, next);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if offset(zone, middle) == before {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            changes.push(Change { zone, at: high });
        }
        (last, before) = (next, after);
    }
    changes
}

/// All changes of all zones.
pub fn all() -> &'static [Change] {
    static ALL: OnceLock<Vec<Change>> = OnceLock::new();
    ALL.get_or_init(|| {
        let zones = zone_data().zones();
        let mut all: Vec<Change> = zones.flat_map(|zone| changes_of(zone, YEARS.0, YEARS.1)).collect();
        let famous = FAMOUS.iter().map(|(name, near)| (name.parse().expect("a zone"), near));
        all.extend(famous.flat_map(|(zone, near)| changes_of(zone, near - 90_000, near + 90_000)));
        all
    })
}

/// One change of each sort: what the clock shows before and after it (on which day does not matter).
pub fn sorts() -> Vec<Change> {
    let sort = |change: &Change| {
        let (before, after) = (shown(change.zone, change.at - 1), shown(change.zone, change.at));
        (before.time(), after - before)
    };
    let sorts: BTreeMap<_, _> = all().iter().map(|change| (sort(change), *change)).collect();
    sorts.into_values().collect()
}

/// The greatest time that the clock has shown before `second`, within a day and a bit.
fn seen_before(zone: Zone, second: i64) -> NaiveDateTime {
    changes_of(zone, second - 100_000, second - 1)
        .iter()
        .map(|change| shown(zone, change.at - 1))
        .chain([shown(zone, second - 1)])
        .max()
        .expect("one at least")
}

/// Every second from `from` to `to` at which a schedule with these times fires under the policy `carillon`.
pub fn carillon(
    includes: impl Fn(NaiveDateTime) -> bool,
    every_hour: bool,
    zone: Zone,
    (from, to): (i64, i64),
) -> Vec<i64> {
    let mut seen = seen_before(zone, from);
    let fires = |second: &i64| {
        let now = shown(zone, *second);
        if every_hour {
            return includes(now);
        }
        let mut any = false;
        while seen < now {
            seen += TimeDelta::seconds(1);
            any |= includes(seen);
        }
        any
    };
    (from..=to).filter(fires).collect()
}

/// The same under the policy `xxl`: a repeated local time means its second occurrence.
pub fn xxl(includes: impl Fn(NaiveDateTime) -> bool, zone: Zone, (from, to): (i64, i64)) -> Vec<i64> {
    let fires = |second: &i64| {
        let now = shown(zone, *second);
        let latest = zone.from_local_datetime(&now).latest().expect("it is shown");
        includes(now) && latest.timestamp() == *second
    };
    (from..=to).filter(fires).collect()
}
