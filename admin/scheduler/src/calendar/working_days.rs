//! Calendars applied to wall-clock times: times on excluded days are left out or moved.

use std::collections::BTreeSet;
use std::collections::btree_set::Range;
use std::iter::Peekable;
use std::sync::Arc;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime};

use super::day_list::{Calendar, Excluded};
use super::wall_times::WallTimes;
use super::weekday::Weekday;
use crate::time::Millis;

/// Limit of a search, in years; the same as that of each schedule kind.
const SEARCH_YEARS: i32 = 100;
/// The most days that an instant is moved by; without a working day within them the instant is left out.
const MAX_MOVE_DAYS: u64 = 100;
const ALL_WEEKDAYS: u8 = 0b1111_1110;

/// The calendars of a schedule, and the rule for instants on excluded days.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorkingDays {
    calendars: Vec<Arc<Calendar>>,
    excluded: Excluded,
    /// Weekdays that any calendar excludes, bit 1 = Monday to bit 7 = Sunday.
    weekdays: u8,
}

impl WorkingDays {
    pub fn new(calendars: Vec<Arc<Calendar>>, excluded: Excluded) -> Self {
        let weekdays = calendars.iter().flat_map(|calendar| &calendar.weekdays);
        Self { weekdays: weekdays.fold(0, |bits, day| bits | 1 << day.code()), calendars, excluded }
    }

    /// Whether the day is a working day: no calendar excludes it, or one lists it as an extra day.
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
        let last = day.with_day(1)?.with_year(day.year() + SEARCH_YEARS)?;
        if self.weekdays == ALL_WEEKDAYS {
            let extra = |calendar: &Arc<Calendar>| calendar.extra.range(day..last).next().copied();
            return self.calendars.iter().filter_map(extra).min();
        }
        // Walks the days and the sorted lists together: a day costs one comparison a list, whatever the lists' length.
        let from = |days: fn(&Calendar) -> &BTreeSet<NaiveDate>| -> Vec<_> {
            let calendars = self.calendars.iter();
            calendars.map(|calendar| days(calendar).range(day..).peekable()).collect()
        };
        let mut excluded = from(|calendar| &calendar.days);
        let mut extra = from(|calendar| &calendar.extra);
        day.iter_days().take_while(|day| *day < last).find(|day| {
            let excluded = take_day(&mut excluded, day) | self.excludes_weekday_of(*day);
            take_day(&mut extra, day) || !excluded
        })
    }

    /// The first day of the run of excluded days directly before a working day, at most [`MAX_MOVE_DAYS`] before it; the
    /// day itself if the day before is a working day.
    fn excluded_before(&self, day: NaiveDate) -> NaiveDate {
        let mut first = day;
        for _ in 0..MAX_MOVE_DAYS {
            match first.pred_opt() {
                Some(before) if !self.includes(before) => first = before,
                _ => break,
            }
        }
        first
    }

    /// The due time of a run that would be due at `at`, for a kind that has no set of times; days are those of UTC.
    pub fn move_utc(&self, at: Millis) -> Option<Millis> {
        let due = DateTime::from_timestamp_millis(at)?.naive_utc();
        let day = self.first_from(due.date())?;
        let time = match self.excluded {
            Excluded::Skip if day != due.date() => NaiveTime::MIN,
            _ => due.time(),
        };
        Some(day.and_time(time).and_utc().timestamp_millis())
    }

    /// `times` with this rule for excluded days applied.
    pub const fn filter<'a, T>(&'a self, times: &'a T) -> Working<'a, T> {
        Working { days: self, times }
    }
}

/// Whether `day` is the next element of any of the lists; advances the lists that have it.
fn take_day<'a>(lists: &mut [Peekable<Range<'a, NaiveDate>>], day: &NaiveDate) -> bool {
    lists.iter_mut().fold(false, |any, list| any | list.next_if(|next| *next == day).is_some())
}

/// Wall-clock times with calendars applied.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Working<'a, T> {
    days: &'a WorkingDays,
    times: &'a T,
}

impl<T: WallTimes> WallTimes for Working<'_, T> {
    fn at_or_after(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        match self.days.excluded {
            Excluded::Skip => self.skipping(from),
            Excluded::NextWorkingDay => self.moving(from),
        }
    }

    fn has_every_hour(&self) -> bool {
        self.times.has_every_hour()
    }
}

impl<T: WallTimes> Working<'_, T> {
    /// The first time on a working day. Each iteration advances by at least a day.
    fn skipping(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let last = from.date().year() + SEARCH_YEARS;
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

    /// The first time on a working day, its own or one moved there. Each iteration advances by at least a day.
    fn moving(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let last = from.date().year() + SEARCH_YEARS;
        let mut from = from;
        while from.year() <= last {
            let day = self.days.first_from(from.date())?;
            let earliest = if day == from.date() { from.time() } else { NaiveTime::MIN };
            if let Some(time) = self.on(day, earliest) {
                return Some(day.and_time(time));
            }
            // Up to the next unfiltered time, no day has a time of its own and none moves one here.
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
                // The time that was found may be before `earliest`: search its day again, from `earliest` on.
                from = at.date();
            }
        }
        best
    }
}
