//! Cron expressions in the dialect of the xxl-job world (Quartz), in a time zone of the job's own.
//!
//! `fields` splits an expression and checks it with messages that name the field. What the crate `cron` does not
//! know is kept from it: ranges that wrap and steps are written out as plain lists, the day rules (`days`) and the
//! years (`years`) are ours. `wall` finds the next time on the wall clock, `clock_changes` the instant for it.

mod clock_changes;
mod days;
mod fields;
mod item;
mod wall;
mod years;
mod zone;

use chrono_tz::Tz;

use self::wall::Wall;
use crate::Millis;
use crate::job::FieldError;
use crate::words::{first_is_default, words};

words! {
    /// What a cron schedule does when the clocks of its zone change.
    pub enum ClockChanges: "clock change policy" {
        /// Where the hour field admits every hour, each real second whose wall clock matches fires. Other hours fire
        /// once: in the first pass of a repeated hour, and at the end of the gap if the clock skips the time.
        Carillon = 0 "carillon",
        /// As xxl-job: a skipped time is lost, and of a repeated hour only the second pass fires.
        Xxl = 1 "xxl",
    }
}

first_is_default!(ClockChanges);

/// What is wrong with an expression: the field, what stands there, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// A cron expression, its zone, and what happens when the zone's clocks change.
#[derive(Debug, Clone, PartialEq)]
pub struct CronSchedule {
    expression: String,
    timezone: Tz,
    clock_changes: ClockChanges,
    wall: Wall,
}

impl CronSchedule {
    /// Reads an expression of six or seven fields and the IANA name of a zone.
    ///
    /// Under [`ClockChanges::Xxl`] the expression is taken to the letter of xxl-job: exactly one of the two day fields
    /// is `?`. Otherwise `*` beside another day field may stand for it, since it can mean nothing else.
    ///
    /// # Errors
    /// Names `schedule.expression` or `schedule.timezone`.
    pub fn parse(
        expression: &str,
        timezone: &str,
        clock_changes: ClockChanges,
    ) -> Result<Self, FieldError> {
        let zone = timezone.trim().parse().map_err(|_| {
            let message = format!(
                "`{timezone:.64}` is not a time zone; write an IANA name such as UTC or Asia/Shanghai"
            );
            FieldError::new("schedule.timezone", message)
        })?;
        let wall = fields::parse(expression, clock_changes == ClockChanges::Xxl)
            .map_err(|error| FieldError::new("schedule.expression", error.to_string()))?;
        Ok(Self {
            expression: expression.trim().to_owned(),
            timezone: zone,
            clock_changes,
            wall,
        })
    }

    /// The expression as it was given.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The zone whose wall clock it means.
    pub const fn timezone(&self) -> Tz {
        self.timezone
    }

    /// What happens when the zone's clocks change.
    pub const fn clock_changes(&self) -> ClockChanges {
        self.clock_changes
    }

    /// The first instant after `t`: strictly later and on a whole second, within 100 years. Under
    /// [`ClockChanges::Xxl`] this is xxl-job's own answer: asked from inside the first pass of a repeated hour it leaves
    /// out what the wall clock has shown already.
    pub fn next_after(&self, t: Millis) -> Option<Millis> {
        let t = t.div_euclid(1_000);
        let next = match self.clock_changes {
            ClockChanges::Carillon => clock_changes::carillon(&self.wall, self.timezone, t),
            ClockChanges::Xxl => clock_changes::xxl_asked_at(&self.wall, self.timezone, t),
        };
        next.map(|second| second * 1_000)
    }

    /// The first member of the set of instants after `t`, whoever asks.
    pub(crate) fn instant_after(&self, t: Millis) -> Option<Millis> {
        match self.clock_changes {
            ClockChanges::Carillon => self.next_after(t),
            ClockChanges::Xxl => clock_changes::xxl(&self.wall, self.timezone, t.div_euclid(1_000))
                .map(|second| second * 1_000),
        }
    }
}

#[cfg(test)]
mod tests;
