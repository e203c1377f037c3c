//! The days of a month that match a rule.

use carillon_cron::{DayRule, MonthTerm};
use chrono::{Datelike, NaiveDate};

/// The matching days of a month, bit 1 to bit 31.
pub(super) fn days_of_month(rule: &DayRule, year: i32, month: u32) -> u32 {
    let Some(month) = Month::new(year, month) else {
        return 0;
    };
    match rule {
        DayRule::Month(terms) => terms.iter().fold(0, |days, term| days | days_of_term(*term, month)),
        DayRule::Weekdays(weekdays) => month.on_weekdays(*weekdays),
        DayRule::LastWeekday(weekday) => 1 << (month.first(*weekday) + (month.length - month.first(*weekday)) / 7 * 7),
        DayRule::NthWeekday(weekday, nth) => month.day(month.first(*weekday) + (nth - 1) * 7),
        DayRule::Either(days, weekdays) => month.existing(*days) | month.on_weekdays(*weekdays),
        DayRule::Both(days, weekdays) => month.existing(*days) & month.on_weekdays(*weekdays),
    }
}

fn days_of_term(term: MonthTerm, month: Month) -> u32 {
    let before_last = |days: u32| month.length.saturating_sub(days);
    match term {
        MonthTerm::Days(days) => month.existing(days),
        MonthTerm::BeforeLast(days) => month.day(before_last(days)),
        MonthTerm::NearestWeekday(day) => month.nearest_weekday(day),
        MonthTerm::NearestWeekdayBeforeLast(days) => month.nearest_weekday(before_last(days)),
    }
}

/// A month of some year.
#[derive(Clone, Copy)]
struct Month {
    length: u32,
    /// Weekday of the 1st, 0 = Sunday.
    starts_on: u32,
}

impl Month {
    fn new(year: i32, month: u32) -> Option<Self> {
        let first = NaiveDate::from_ymd_opt(year, month, 1)?;
        let length = u32::from(first.num_days_in_month());
        Some(Self { length, starts_on: first.weekday().num_days_from_sunday() })
    }

    /// 1 = Sunday … 7 = Saturday.
    const fn weekday(self, day: u32) -> u32 {
        (self.starts_on + day - 1) % 7 + 1
    }

    /// The first day of the month on this weekday.
    const fn first(self, weekday: u32) -> u32 {
        (weekday - 1 + 7 - self.starts_on) % 7 + 1
    }

    /// The days that exist in the month.
    const fn existing(self, days: u32) -> u32 {
        days & (u32::MAX >> (31 - self.length))
    }

    /// Every day on one of these weekdays, bit 1 = Sunday to bit 7 = Saturday.
    fn on_weekdays(self, weekdays: u8) -> u32 {
        // The bits of one week from the 1st on, repeated.
        let week = u32::from(weekdays >> 1);
        let week = (week >> self.starts_on | week << (7 - self.starts_on)) & 0x7f;
        let weeks = week | week << 7 | week << 14 | week << 21 | week << 28;
        self.existing(weeks << 1)
    }

    /// The day as a set; empty if the month does not have it.
    const fn day(self, day: u32) -> u32 {
        if day >= 1 && day <= self.length { 1 << day } else { 0 }
    }

    /// Saturday → the Friday before, Sunday → the Monday after, but never in another month.
    const fn nearest_weekday(self, day: u32) -> u32 {
        if self.day(day) == 0 {
            return 0;
        }
        match self.weekday(day) {
            7 if day == 1 => 1 << 3,
            7 => 1 << (day - 1),
            1 if day == self.length => 1 << (day - 2),
            1 => 1 << (day + 1),
            _ => 1 << day,
        }
    }
}
