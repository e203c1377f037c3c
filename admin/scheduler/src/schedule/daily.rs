//! At a fixed period between two times of day, on selected weekdays.

use chrono::{Datelike, NaiveDateTime, NaiveTime, TimeDelta, Timelike};

use super::draft::DailyDraft;
use crate::calendar::{WallClock, WallTimes, Weekday};
use crate::field_error::FieldError;

const DAY: i64 = 86_400;

/// A daily window and its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Daily {
    pub clock: WallClock,
    pub window: Window,
}

/// The wall-clock times `from`, `from + every` … up to `to`, on selected weekdays. A window over midnight belongs to the day
/// on which it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    /// 1 to 86,400 s.
    every: i64,
    /// Seconds after midnight.
    from: i64,
    /// Seconds from the first to the last possible time, below a day.
    length: i64,
    /// Bit 1 = Monday to bit 7 = Sunday.
    weekdays: u8,
    has_every_hour: bool,
}

impl Daily {
    /// Checks a draft.
    ///
    /// # Errors
    /// Names `schedule.every_seconds`, `schedule.from`, `schedule.to`, `schedule.weekdays` or `schedule.timezone`.
    pub fn parse(draft: &DailyDraft) -> Result<Self, FieldError> {
        let every = draft.every_seconds;
        if !(1..=DAY).contains(&every) {
            let message = format!("{every} is not allowed; a daily window has a fire every 1 to {DAY} seconds");
            return Err(FieldError::new("schedule.every_seconds", message));
        }
        let from = time_of_day("schedule.from", &draft.from)?;
        let to = time_of_day("schedule.to", &draft.to)?;
        let weekdays = draft.weekdays.iter().fold(0, |bits, day| bits | 1 << day.code());
        if weekdays == 0 {
            let message = "must not be empty; name at least one of MON, TUE, WED, THU, FRI, SAT, SUN";
            return Err(FieldError::new("schedule.weekdays", message));
        }
        let clock = WallClock::parse(&draft.timezone, draft.clock_changes)?;
        let mut window = Window { every, from, length: (to - from).rem_euclid(DAY), weekdays, has_every_hour: false };
        window.has_every_hour = (0..24).all(|hour| window.has_time_in(hour));
        Ok(Self { clock, window })
    }

    /// The normalised draft: times with seconds, each weekday once and in order.
    pub fn normalise(&self, draft: &DailyDraft) -> DailyDraft {
        let Window { from, length, .. } = self.window;
        let days = Weekday::ALL.iter().copied();
        DailyDraft {
            every_seconds: draft.every_seconds,
            from: format_time(from),
            to: format_time((from + length) % DAY),
            weekdays: days.filter(|day| draft.weekdays.contains(day)).collect(),
            timezone: self.clock.timezone.name().to_owned(),
            clock_changes: draft.clock_changes,
        }
    }
}

impl Window {
    /// The first time of the window that begins on `midnight`'s day at or after `from`.
    fn on(&self, midnight: NaiveDateTime, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let weekday = Weekday::from(midnight.weekday());
        if self.weekdays & 1 << weekday.code() == 0 {
            return None;
        }
        let begin = midnight.checked_add_signed(TimeDelta::seconds(self.from))?;
        // Rounded up, because `from` may have fractions of a second.
        let elapsed = (from - begin + TimeDelta::milliseconds(999)).num_seconds().max(0);
        let after = elapsed.checked_add(self.every - 1)? / self.every * self.every;
        (after <= self.length).then(|| begin.checked_add_signed(TimeDelta::seconds(after))).flatten()
    }

    /// Whether a window has a time in this hour of the day, or of the next day.
    fn has_time_in(&self, hour: i64) -> bool {
        [hour * 3_600, hour * 3_600 + DAY].into_iter().any(|start| {
            let elapsed = (start - self.from).max(0);
            let after = (elapsed + self.every - 1) / self.every * self.every;
            after <= self.length && self.from + after >= start && self.from + after < start + 3_600
        })
    }
}

impl WallTimes for Window {
    fn at_or_after(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        // Windows are shorter than a day, so those of two days never overlap, and the first match is the earliest.
        let yesterday = from.date().pred_opt()?;
        yesterday.iter_days().take(9).find_map(|day| self.on(day.and_time(NaiveTime::MIN), from))
    }

    fn has_every_hour(&self) -> bool {
        self.has_every_hour
    }
}

/// `HH:MM` or `HH:MM:SS` as seconds after midnight.
fn time_of_day(field: &str, text: &str) -> Result<i64, FieldError> {
    let time = ["%H:%M", "%H:%M:%S"]
        .iter()
        .find_map(|format| NaiveTime::parse_from_str(text.trim(), format).ok())
        // Refuses a leap second, which chrono parses as extra nanoseconds and no clock shows.
        .filter(|time| time.nanosecond() == 0);
    time.map(|time| i64::from(time.num_seconds_from_midnight())).ok_or_else(|| {
        let message = format!("`{text:.64}` is not a time of day; write HH:MM or HH:MM:SS, 00:00 to 23:59:59");
        FieldError::new(field, message)
    })
}

fn format_time(seconds: i64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
