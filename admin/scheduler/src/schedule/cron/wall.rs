//! The search on the wall clock: year → month → day → time of day. Time zones do not exist here.

use chrono::{Datelike, NaiveDate, NaiveDateTime, Timelike};
use cron::TimeUnitSpec;

use super::Error;
use super::days::DayRule;
use super::years::Years;
use crate::schedule::wall_clock::WallTimes;

/// How far the search goes, in years.
const REACH_YEARS: i32 = 100;

/// What an expression says about wall clocks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wall {
    pub times: Times,
    pub days: DayRule,
    pub years: Years,
}

/// The plain fields as sets of bits, read from the crate's own parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    seconds: u64,
    minutes: u64,
    hours: u64,
    months: u64,
}

impl Times {
    /// Lets the crate `cron` read a plain expression.
    pub fn read(plain: &str) -> Result<Self, Error> {
        let schedule: cron::Schedule = plain.parse().map_err(|error| Error(format!("`{plain}`: {error}")))?;
        Ok(Self {
            seconds: bits(schedule.seconds()),
            minutes: bits(schedule.minutes()),
            hours: bits(schedule.hours()),
            months: bits(schedule.months()),
        })
    }

    /// Whether the hour field leaves no hour out.
    const fn every_hour(self) -> bool {
        self.hours == (1 << 24) - 1
    }

    /// The first time of a day.
    fn first(self) -> (u32, u32, u32) {
        (self.hours.trailing_zeros(), self.minutes.trailing_zeros(), self.seconds.trailing_zeros())
    }

    /// The first time of a day at or after another.
    fn at_or_after(self, (hour, minute, second): (u32, u32, u32)) -> Option<(u32, u32, u32)> {
        let (_, first_minute, first_second) = self.first();
        if self.hours & 1 << hour != 0 {
            if self.minutes & 1 << minute != 0
                && let Some(second) = next_bit(self.seconds, second)
            {
                return Some((hour, minute, second));
            }
            if let Some(minute) = next_bit(self.minutes, minute + 1) {
                return Some((hour, minute, first_second));
            }
        }
        Some((next_bit(self.hours, hour + 1)?, first_minute, first_second))
    }
}

fn bits(values: &impl TimeUnitSpec) -> u64 {
    values.iter().fold(0, |bits, value| bits | 1 << value)
}

/// The first bit that is set, from `from` on.
fn next_bit(bits: u64, from: u32) -> Option<u32> {
    let rest = bits.checked_shr(from)? << from;
    (rest != 0).then(|| rest.trailing_zeros())
}

impl WallTimes for Wall {
    fn at_or_after(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let today = from.date();
        if self.matches_day(today)
            && let Some(time) = self.times.at_or_after((from.hour(), from.minute(), from.second()))
        {
            return at(today, time);
        }
        at(self.day_after(today)?, self.times.first())
    }

    fn every_hour(&self) -> bool {
        self.times.every_hour()
    }
}

impl Wall {
    fn matches_day(&self, date: NaiveDate) -> bool {
        self.months_of(date.year()) & 1 << date.month() != 0
            && self.days.days(date.year(), date.month()) & 1 << date.day() != 0
    }

    fn months_of(&self, year: i32) -> u64 {
        if self.years.includes(year) { self.times.months } else { 0 }
    }

    /// The first matching day after a day.
    fn day_after(&self, date: NaiveDate) -> Option<NaiveDate> {
        for year in date.year()..=date.year() + REACH_YEARS {
            let months = self.months_of(year);
            let mut month = if year == date.year() { date.month() } else { 1 };
            while let Some(matching) = next_bit(months, month) {
                let days = u64::from(self.days.days(year, matching));
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

fn at(date: NaiveDate, (hour, minute, second): (u32, u32, u32)) -> Option<NaiveDateTime> {
    date.and_hms_opt(hour, minute, second)
}
