//! Cron expressions in a time zone of the job's own, in two dialects: that of the xxl-job world (Quartz), and Unix.
//!
//! `fields` (Quartz) and `unix` split an expression and check it with messages that name the field. What the crate
//! `cron` does not know is kept from it: ranges that wrap and steps are written out as plain lists, the day rules
//! (`days`) and the years (`years`) are ours. `wall` finds the next time on the wall clock; which instant that is says
//! the module `wall_clock`.

mod days;
mod fields;
mod item;
mod unix;
mod wall;
mod years;

use chrono_tz::Tz;

use self::wall::Wall;
use super::wall_clock::{Ask, ClockChanges, WallClock};
use super::working_days::WorkingDays;
use crate::Millis;
use crate::job::FieldError;

/// What is wrong with an expression: the field, what stands there, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// How an expression is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Six or seven fields, seconds first, as Quartz and xxl-job: kind `cron`.
    Quartz,
    /// Five fields, as a crontab: kind `unix_cron`.
    Unix,
}

/// A cron expression, its zone, and what happens when the zone's clocks change.
#[derive(Debug, Clone, PartialEq)]
pub struct CronSchedule {
    dialect: Dialect,
    expression: String,
    clock: WallClock,
    wall: Wall,
}

impl CronSchedule {
    /// Reads a Quartz expression of six or seven fields and the IANA name of a zone.
    ///
    /// Under [`ClockChanges::Xxl`] the expression is taken to the letter of xxl-job: exactly one of the two day fields
    /// is `?`. Otherwise `*` beside another day field may stand for it, since it can mean nothing else.
    ///
    /// # Errors
    /// Names `schedule.expression` or `schedule.timezone`.
    pub fn parse(expression: &str, timezone: &str, clock_changes: ClockChanges) -> Result<Self, FieldError> {
        Self::read(Dialect::Quartz, expression, timezone, clock_changes)
    }

    /// Reads an expression of either dialect; a Unix one has five fields, or is a word such as `@daily`.
    ///
    /// # Errors
    /// Names `schedule.expression` or `schedule.timezone`.
    pub fn read(
        dialect: Dialect,
        expression: &str,
        timezone: &str,
        clock_changes: ClockChanges,
    ) -> Result<Self, FieldError> {
        let clock = WallClock::parse(timezone, clock_changes)?;
        let wall = match dialect {
            Dialect::Quartz => fields::parse(expression, clock_changes == ClockChanges::Xxl),
            Dialect::Unix => unix::parse(expression),
        };
        let wall = wall.map_err(|error| FieldError::new("schedule.expression", error.to_string()))?;
        Ok(Self { dialect, expression: expression.trim().to_owned(), clock, wall })
    }

    /// How the expression is read.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The expression as it was given.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The zone whose wall clock it means.
    pub const fn timezone(&self) -> Tz {
        self.clock.timezone
    }

    /// What happens when the zone's clocks change.
    pub const fn clock_changes(&self) -> ClockChanges {
        self.clock.changes
    }

    /// The first instant after `t`: strictly later and on a whole second, within 100 years. Under
    /// [`ClockChanges::Xxl`] this is xxl-job's own answer: asked from inside the first pass of a repeated hour it leaves
    /// out what the wall clock has shown already.
    pub fn next_after(&self, t: Millis) -> Option<Millis> {
        self.after(Ask::Next, None, t)
    }

    /// The first instant after `t` on days that calendars leave.
    pub(super) fn after(&self, ask: Ask, days: Option<&WorkingDays>, t: Millis) -> Option<Millis> {
        self.clock.after(ask, &self.wall, days, t)
    }
}

#[cfg(test)]
mod tests;
