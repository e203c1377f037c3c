//! From wall-clock times to instants: one function for each policy. All take and give UTC epoch seconds; the answer
//! is always later than `t`.

use chrono::{NaiveDateTime, TimeDelta};
use chrono_tz::Tz;

use super::WallTimes;
use super::zone::{Shows, change_in, gap_end, moved_back, offset, shown, shows};

/// No two offsets of one zone lie further apart, in s; a clock has shown nothing twice over a greater distance.
const NEAR: i64 = 2 * 86_400;
/// More changes of a clock than lie between a moment and the next match.
const MAX_STEPS: usize = 1_000;
/// So many matches one after the other that the clock never shows: there will be no other. (The data of zones ends in
/// 2100, and from then on they seem to have no gaps.)
const MOST_GAPS: usize = 30;

/// The policy `carillon`.
pub(super) fn carillon(wall: &impl WallTimes, zone: Tz, t: i64) -> Option<i64> {
    if wall.every_hour() { every_real_second(wall, zone, t) } else { once(wall, zone, t) }
}

/// Each real second whose wall clock matches, in all passes of a repeated hour. Between two changes of the clock wall
/// time runs like real time; the search goes from one such stretch to the next.
fn every_real_second(wall: &impl WallTimes, zone: Tz, t: i64) -> Option<i64> {
    let mut at = t + 1;
    for _ in 0..MAX_STEPS {
        let found = wall.at_or_after(shown(zone, at)?).map(|local| local.and_utc().timestamp() - offset(zone, at));
        // Only a change near here or near there can put a match before the one that was found.
        let near = found.map_or(at + NEAR, |found| found.min(at + NEAR));
        at = match (change_in(zone, at, near), found) {
            (Some(change), _) => change,
            (None, Some(found)) if found > near => (found - NEAR).max(near),
            (None, found) => return found,
        };
    }
    None
}

/// Each matching wall-clock time once: when the clock first shows it or has first gone past it.
fn once(wall: &impl WallTimes, zone: Tz, t: i64) -> Option<i64> {
    let now = shown(zone, t)?;
    let unseen = match moved_back(zone, now) {
        // In the second pass: all up to the change has been seen.
        Some((_, second, change)) if second == t => local(change + offset(zone, change - 1))?,
        _ => now + TimeDelta::seconds(1),
    };
    let found = wall.at_or_after(unseen)?;
    match shows(zone, found) {
        Shows::Once(at) | Shows::Twice(at, _) => Some(at),
        Shows::Never => gap_end(zone, found),
    }
}

/// The policy `xxl` as a set of instants: what the clock never shows is left out, what it shows twice means the
/// second time.
pub(super) fn xxl(wall: &impl WallTimes, zone: Tz, t: i64) -> Option<i64> {
    let from = shown(zone, t + 1)?;
    match moved_back(zone, from) {
        // In the first pass, all of the second is still to come.
        Some((first, _, change)) if first == t + 1 => last_shown(wall, zone, shown(zone, change)?),
        _ => last_shown(wall, zone, from),
    }
}

/// The policy `xxl` as xxl-job answers: the first matching wall-clock time from that of `t` + 1 s on.
pub(super) fn xxl_asked_at(wall: &impl WallTimes, zone: Tz, t: i64) -> Option<i64> {
    last_shown(wall, zone, shown(zone, t + 1)?)
}

fn last_shown(wall: &impl WallTimes, zone: Tz, mut from: NaiveDateTime) -> Option<i64> {
    for _ in 0..MOST_GAPS {
        let found = wall.at_or_after(from)?;
        match shows(zone, found) {
            Shows::Once(at) | Shows::Twice(_, at) => return Some(at),
            Shows::Never => from = shown(zone, gap_end(zone, found)?)?,
        }
    }
    None
}

/// A wall-clock time as the seconds since the epoch that it would be in UTC.
fn local(seconds: i64) -> Option<NaiveDateTime> {
    Some(chrono::DateTime::from_timestamp(seconds, 0)?.naive_utc())
}
