//! What a schedule does when the clocks of its zone change, within the coming year, in sentences.
//!
//! They are found by looking: which times of the wall clock the schedule means is asked of the same schedule in UTC, and
//! which of them fire is asked of the schedule itself.

use std::sync::Arc;

use carillon_scheduler::calendar::is_excluded;
use carillon_scheduler::{Calendar, KindDraft, Millis, Schedule, Zone};
use chrono::{DateTime, NaiveDateTime, Timelike as _};

use crate::preview::wall_clock::{bare, local};

const YEAR: i64 = 366 * 86_400;
/// At most this many sentences.
const MOST: usize = 4;
/// Times that are named in one.
const NAMED: usize = 3;

/// The zone's clocks are moved at this second of UTC; both offsets in s.
#[derive(Clone, Copy)]
struct Change {
    at: i64,
    before: i64,
    after: i64,
}

pub fn notes(schedule: &Schedule, calendars: &[Arc<Calendar>], from: Millis) -> Vec<String> {
    let draft = schedule.draft();
    let by_clock = matches!(draft.kind, KindDraft::Cron(_) | KindDraft::UnixCron(_) | KindDraft::Daily(_));
    let (Some(real), Some(wall)) = (bare(schedule, None), bare(schedule, Some("UTC"))) else {
        return vec![];
    };
    let looked_at =
        Looked { real: &real, wall: &wall, zone: draft.zone(), offset_ms: schedule.spread_offset_seconds() * 1000 };
    let valid = |at: i64| {
        draft.start_at.is_none_or(|start| at * 1000 >= start) && draft.end_at.is_none_or(|end| at * 1000 <= end)
    };
    let open = |at: i64| !is_excluded(calendars, local(at * 1000, looked_at.zone).date_naive());
    let from = from.div_euclid(1000);
    changes(looked_at.zone, from, from + YEAR)
        .filter(|change| by_clock && valid(change.at) && open(change.at))
        .filter_map(|change| looked_at.note(change))
        .take(MOST)
        .collect()
}

/// The seconds in `(from, to]` at which a zone's clocks are moved.
fn changes(zone: Zone, from: i64, to: i64) -> impl Iterator<Item = Change> {
    let offset = move |second| i64::from(zone.offset_at(second));
    let seconds = std::iter::successors(zone.change_in(from, to), move |at| zone.change_in(*at, to));
    seconds.map(move |at| Change { at, before: offset(at - 1), after: offset(at) })
}

struct Looked<'a> {
    real: &'a Schedule,
    /// The same on a clock that never changes: its instants are wall-clock times.
    wall: &'a Schedule,
    zone: Zone,
    offset_ms: i64,
}

impl Looked<'_> {
    fn note(&self, change: Change) -> Option<String> {
        let (first, end) = (change.at + change.before.min(change.after), change.at + change.before.max(change.after));
        let times = self.times(first, end);
        let earliest = *times.first()?;
        let every_hour = self.is_every_hour(earliest);
        match change.after > change.before {
            true if every_hour => None,
            true => Some(self.skipped(change, &times)),
            false => self.repeated(change, &times, every_hour),
        }
    }

    /// The wall-clock times in `[first, end)` at which it means to fire, at most 100.
    fn times(&self, first: i64, end: i64) -> Vec<i64> {
        let next = |at: i64| self.wall.next_after(at * 1000 - 1).map(|at| at / 1000);
        std::iter::successors(next(first), |at| next(at + 1)).take_while(|at| *at < end).take(100).collect()
    }

    /// Whether every hour of that day has an instant.
    fn is_every_hour(&self, wall: i64) -> bool {
        let midnight = wall - wall.rem_euclid(86_400);
        (0..24).all(|hour| {
            let start = midnight + hour * 3600;
            !self.times(start, start + 3600).is_empty()
        })
    }

    fn fires_at(&self, second: i64) -> bool {
        self.real.next_after(second * 1000 - 1) == Some(second * 1000)
    }

    fn skipped(&self, change: Change, times: &[i64]) -> String {
        let end = change.at + change.after;
        let means_the_end = self.times(end, end + 1) == [end];
        let fires = self.fires_at(change.at);
        let instead = clock(local(change.at * 1000 + self.offset_ms, self.zone).naive_local());
        let end = clock(wall(end));
        let (day, is_one, times) = (wall(times[0]).date(), times.len() == 1, named(times));
        let becomes = match (fires, means_the_end, is_one) {
            (true, false, true) => format!("it fires at {instead} instead"),
            (true, false, false) => format!("it fires once, at {instead} instead"),
            (true, true, true) => format!("the fire at {end} stands for it"),
            (true, true, false) => format!("the fire at {end} stands for them"),
            (false, _, true) => "nothing fires for it".to_owned(),
            (false, _, false) => "nothing fires for them".to_owned(),
        };
        match is_one {
            true => format!("{times} does not exist on {day}: {becomes}."),
            false => format!("{times} do not exist on {day}: {becomes}."),
        }
    }

    fn repeated(&self, change: Change, times: &[i64], every_hour: bool) -> Option<String> {
        let first = self.fires_at(times[0] - change.before);
        let second = self.fires_at(times[0] - change.after);
        let which = match (first, second) {
            (true, true) if every_hour => return None,
            (true, true) => "both times",
            (true, false) => "the first time only",
            (false, true) => "the second time only",
            (false, false) => return None,
        };
        let (day, is_one, times) = (wall(times[0]).date(), times.len() == 1, named(times));
        Some(match is_one {
            true => format!("{times} comes twice on {day}: it fires {which}."),
            false => format!("{times} come twice on {day}: it fires {which}."),
        })
    }
}

/// `02:00, 02:20, 02:40`, or the first of them and how many more.
fn named(times: &[i64]) -> String {
    let names: Vec<String> = times.iter().take(NAMED).map(|at| clock(wall(*at))).collect();
    match times.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more times", names.join(", ")),
    }
}

fn wall(second: i64) -> NaiveDateTime {
    DateTime::from_timestamp(second, 0).unwrap_or_default().naive_utc()
}

fn clock(time: NaiveDateTime) -> String {
    let format = if time.second() == 0 { "%H:%M" } else { "%H:%M:%S" };
    time.format(format).to_string()
}
