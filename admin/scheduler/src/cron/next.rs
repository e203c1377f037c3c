//! The search for the next wall-clock time: year → month → day → time of day. Time zones play no part here.

use carillon_cron::{CronFields, DayRule, Years};
use chrono::{Datelike, NaiveDate, NaiveDateTime, Timelike};

use super::days::days_of_month;
use super::plain_fields::{PlainFields, TimeOfDay, next_bit};
use crate::calendar::WallTimes;

/// Limit of the search, in years.
const SEARCH_YEARS: i32 = 100;

/// The wall-clock times of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CronTimes {
    plain: PlainFields,
    days: DayRule,
    years: Years,
}

impl WallTimes for CronTimes {
    fn at_or_after(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let today = from.date();
        if self.matches_day(today)
            && let Some(time) = self.plain.time_at_or_after((from.hour(), from.minute(), from.second()))
        {
            return at(today, time);
        }
        at(self.day_after(today)?, self.plain.first_time())
    }

    fn has_every_hour(&self) -> bool {
        self.plain.has_every_hour()
    }
}

impl CronTimes {
    /// What the fields stand for; an error has the text of the crate `cron`.
    pub fn new(fields: CronFields) -> Result<Self, String> {
        Ok(Self { plain: PlainFields::parse(&fields.plain)?, days: fields.days, years: fields.years })
    }

    fn matches_day(&self, date: NaiveDate) -> bool {
        self.months_of(date.year()) & 1 << date.month() != 0
            && days_of_month(&self.days, date.year(), date.month()) & 1 << date.day() != 0
    }

    fn months_of(&self, year: i32) -> u64 {
        if self.years.includes(year) { self.plain.months } else { 0 }
    }

    /// The first matching day after a day.
    fn day_after(&self, date: NaiveDate) -> Option<NaiveDate> {
        for year in date.year()..=date.year() + SEARCH_YEARS {
            let months = self.months_of(year);
            let mut month = if year == date.year() { date.month() } else { 1 };
            while let Some(matching) = next_bit(months, month) {
                let days = u64::from(days_of_month(&self.days, year, matching));
                let same = year == date.year() && matching == date.month();
                if let Some(day) = next_bit(days, if same { date.day() + 1 } else { 1 }) {
                    return NaiveDate::from_ymd_opt(year, matching, day);
                }
                month = matching + 1;
            }
        }
        None
    }
}

fn at(date: NaiveDate, (hour, minute, second): TimeOfDay) -> Option<NaiveDateTime> {
    date.and_hms_opt(hour, minute, second)
}
