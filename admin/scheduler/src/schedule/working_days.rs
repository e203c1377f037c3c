//! Calendars laid over wall-clock times: instants on excluded days are left out or moved.

use std::collections::BTreeSet;
use std::collections::btree_set::Range;
use std::iter::Peekable;
use std::sync::Arc;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime};

use super::wall_clock::WallTimes;
use super::{Calendar, Excluded, Weekday};
use crate::Millis;

/// How far a search goes, in years, as that of each kind.
const REACH_YEARS: i32 = 100;
/// An instant is moved by at most so many days; where calendars leave no working day that near, it is left out.
pub(super) const MOST_DAYS: u64 = 100;
const ALL_WEEKDAYS: u8 = 0b1111_1110;

/// The calendars of a schedule, and what becomes of instants on the days that they exclude.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WorkingDays {
    calendars: Vec<Arc<Calendar>>,
    excluded: Excluded,
    /// The excluded ones of all calendars, bit 1 = Monday to bit 7 = Sunday.
    weekdays: u8,
}

impl WorkingDays {
    pub fn new(calendars: Vec<Arc<Calendar>>, excluded: Excluded) -> Self {
        let weekdays = calendars.iter().flat_map(|calendar| &calendar.weekdays);
        Self { weekdays: weekdays.fold(0, |bits, day| bits | 1 << day.code()), calendars, excluded }
    }

    /// Whether no calendar excludes the day, or one makes it extra.
    fn includes(&self, day: NaiveDate) -> bool {
        let excluded =
            self.excludes_weekday_of(day) || self.calendars.iter().any(|calendar| calendar.days.contains(&day));
        !excluded || self.calendars.iter().any(|calendar| calendar.extra.contains(&day))
    }

    fn excludes_weekday_of(&self, day: NaiveDate) -> bool {
        self.weekdays & 1 << Weekday::from(day.weekday()).code() != 0
    }

    /// The first working day from `day` on, within 100 years.
    fn first_from(&self, day: NaiveDate) -> Option<NaiveDate> {
        let last = day.with_day(1)?.with_year(day.year() + REACH_YEARS)?;
        if self.weekdays == ALL_WEEKDAYS {
            let extra = |calendar: &Arc<Calendar>| calendar.extra.range(day..last).next().copied();
            return self.calendars.iter().filter_map(extra).min();
        }
        // Side by side with the sorted lists: however long they are, a day costs a comparison each.
        let from = |days: fn(&Calendar) -> &BTreeSet<NaiveDate>| -> Vec<_> {
            let calendars = self.calendars.iter();
            calendars.map(|calendar| days(calendar).range(day..).peekable()).collect()
        };
        let mut excluded = from(|calendar| &calendar.days);
        let mut extra = from(|calendar| &calendar.extra);
        day.iter_days().take_while(|day| *day < last).find(|day| {
            let excluded = names(&mut excluded, day) | self.excludes_weekday_of(*day);
            names(&mut extra, day) || !excluded
        })
    }

    /// The first of the excluded days right before a working day, not more than [`MOST_DAYS`] before it; the day
    /// itself if there is none.
    fn excluded_before(&self, day: NaiveDate) -> NaiveDate {
        let mut first = day;
        for _ in 0..MOST_DAYS {
            match first.pred_opt() {
                Some(before) if !self.includes(before) => first = before,
                _ => break,
            }
        }
        first
    }

    /// When a run that would be due at `at` is due instead, for a kind that has no set of times; days are those of UTC.
    pub fn moved_utc(&self, at: Millis) -> Option<Millis> {
        let due = DateTime::from_timestamp_millis(at)?.naive_utc();
        let day = self.first_from(due.date())?;
        let time = match self.excluded {
            Excluded::Skip if day != due.date() => NaiveTime::MIN,
            _ => due.time(),
        };
        Some(day.and_time(time).and_utc().timestamp_millis())
    }

    /// Those of `times` that calendars leave.
    pub const fn of<'a, T>(&'a self, times: &'a T) -> Working<'a, T> {
        Working { days: self, times }
    }
}

/// Whether any of the lists goes on with this day; those that do are taken past it.
fn names<'a>(lists: &mut [Peekable<Range<'a, NaiveDate>>], day: &NaiveDate) -> bool {
    lists.iter_mut().fold(false, |any, list| any | list.next_if(|next| *next == day).is_some())
}

/// Wall-clock times under calendars.
#[derive(Debug, Clone, Copy)]
pub(super) struct Working<'a, T> {
    days: &'a WorkingDays,
    times: &'a T,
}

impl<T: WallTimes> WallTimes for Working<'_, T> {
    fn at_or_after(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        match self.days.excluded {
            Excluded::Skip => self.left(from),
            Excluded::NextWorkingDay => self.moved(from),
        }
    }

    fn every_hour(&self) -> bool {
        self.times.every_hour()
    }
}

impl<T: WallTimes> Working<'_, T> {
    /// The first time on a working day. Each turn goes at least a day on.
    fn left(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let last = from.date().year() + REACH_YEARS;
        let mut at = self.times.at_or_after(from)?;
        while !self.days.includes(at.date()) {
            let day = self.days.first_from(at.date())?;
            at = self.times.at_or_after(day.and_time(NaiveTime::MIN))?;
            if at.year() > last {
                return None;
            }
        }
        Some(at)
    }

    /// The first time on a working day, its own or one that was moved there. Each turn goes at least a day on.
    fn moved(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let last = from.date().year() + REACH_YEARS;
        let mut from = from;
        while from.year() <= last {
            let day = self.days.first_from(from.date())?;
            let earliest = if day == from.date() { from.time() } else { NaiveTime::MIN };
            if let Some(time) = self.on(day, earliest) {
                return Some(day.and_time(time));
            }
            // The days up to the next time of all leave nothing and move nothing.
            from = self.times.at_or_after(day.succ_opt()?.and_time(NaiveTime::MIN))?;
        }
        None
    }

    /// The first time of a working day, its own or moved there, at or after `earliest`.
    fn on(&self, day: NaiveDate, earliest: NaiveTime) -> Option<NaiveTime> {
        let mut best = None;
        let mut from = self.days.excluded_before(day);
        while from <= day
            && best != Some(earliest)
            && let Some(at) = self.times.at_or_after(from.and_time(earliest))
        {
            if at.date() == from {
                best = Some(best.map_or(at.time(), |best: NaiveTime| best.min(at.time())));
                from = from.succ_opt()?;
            } else {
                // It may lie before `earliest`: ask that day again.
                from = at.date();
            }
        }
        best
    }
}
