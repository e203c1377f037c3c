//! The policies for clock changes: one search for each. All take and return UTC epoch seconds, and the result is always
//! later than `t`.

use chrono::{NaiveDateTime, TimeDelta};

use super::wall_times::WallTimes;
use super::zone::{LocalTime, local_time, offset, repeated};
use crate::words::{first_is_default, words};
use crate::zone::Zone;

words! {
    /// What a schedule does when the clocks of its zone change.
    pub enum ClockChanges: "clock change policy" {
        /// A schedule that covers every hour fires at each elapsed second whose local time matches. Other schedules fire
        /// once: in the first pass of a repeated hour, and at the end of the gap if the clock skips the time.
        Carillon = 0 "carillon",
        /// As xxl-job: a skipped time does not fire, and of a repeated hour only the second pass fires.
        Xxl = 1 "xxl",
    }
}

first_is_default!(ClockChanges);

/// An upper bound of the difference between two offsets of one zone, in s: no local time repeats after a longer time.
const MAX_OFFSET_CHANGE: i64 = 2 * 86_400;
/// More clock changes than there can be between a moment and the next match.
const MAX_STEPS: usize = 1_000;
/// After this many matches in a row that lie in gaps the search ends without a result.
const MAX_GAPS: usize = 30;

/// The policy `carillon`.
pub(super) fn next_carillon(times: &impl WallTimes, zone: Zone, t: i64) -> Option<i64> {
    if times.has_every_hour() { next_elapsed_second(times, zone, t) } else { next_local_time(times, zone, t) }
}

/// Each second whose local time matches, in all passes of a repeated hour. Between two clock changes local time runs
/// like UTC; the search goes from one such stretch to the next.
fn next_elapsed_second(times: &impl WallTimes, zone: Zone, t: i64) -> Option<i64> {
    let mut at = t + 1;
    for _ in 0..MAX_STEPS {
        let local = times.at_or_after(local_time(zone, at)?);
        let found = local.map(|local| local.and_utc().timestamp() - offset(zone, at));
        // Only a change near `at` or near the match can put another match before the one that was found.
        let near = found.map_or(at + MAX_OFFSET_CHANGE, |found| found.min(at + MAX_OFFSET_CHANGE));
        at = match (zone.change_in(at, near), found) {
            (Some(change), _) => change,
            (None, Some(found)) if found > near => (found - MAX_OFFSET_CHANGE).max(near),
            (None, found) => return found,
        };
    }
    None
}

/// Each matching local time once: when the clock first shows it, or at the end of the gap that skips it.
fn next_local_time(times: &impl WallTimes, zone: Zone, t: i64) -> Option<i64> {
    let now = local_time(zone, t)?;
    let from = match repeated(zone, now) {
        // In the second pass: the first pass has shown everything up to the change.
        Some((_, second, change)) if second == t => as_utc(change + offset(zone, change - 1))?,
        _ => now + TimeDelta::seconds(1),
    };
    let found = times.at_or_after(from)?;
    match LocalTime::new(zone, found) {
        LocalTime::Once(at) | LocalTime::Twice(at, _) => Some(at),
        LocalTime::Never => zone.gap_end(found),
    }
}

/// The policy `xxl` as a set of instants: a skipped local time is left out, a repeated one means its second occurrence.
pub(super) fn next_in_xxl_set(times: &impl WallTimes, zone: Zone, t: i64) -> Option<i64> {
    let from = local_time(zone, t + 1)?;
    match repeated(zone, from) {
        // In the first pass, the whole second pass is still to come.
        Some((first, _, change)) if first == t + 1 => last_occurrence(times, zone, local_time(zone, change)?),
        _ => last_occurrence(times, zone, from),
    }
}

/// The policy `xxl` as xxl-job computes it: the first matching local time from that of `t` + 1 s on.
pub(super) fn next_like_xxl_job(times: &impl WallTimes, zone: Zone, t: i64) -> Option<i64> {
    last_occurrence(times, zone, local_time(zone, t + 1)?)
}

fn last_occurrence(times: &impl WallTimes, zone: Zone, mut from: NaiveDateTime) -> Option<i64> {
    for _ in 0..MAX_GAPS {
        let found = times.at_or_after(from)?;
        match LocalTime::new(zone, found) {
            LocalTime::Once(at) | LocalTime::Twice(_, at) => return Some(at),
            LocalTime::Never => from = local_time(zone, zone.gap_end(found)?)?,
        }
    }
    None
}

/// The local time whose seconds since the epoch, counted as if it were UTC, are `seconds`.
fn as_utc(seconds: i64) -> Option<NaiveDateTime> {
    Some(chrono::DateTime::from_timestamp(seconds, 0)?.naive_utc())
}
