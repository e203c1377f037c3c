//! A cron expression with its time zone.

use carillon_cron::{CronFields, Dialect};

use super::next::CronTimes;
use crate::calendar::{ClockChanges, NextRule, WallClock, WorkingDays};
use crate::field_error::FieldError;
use crate::time::Millis;
use crate::zone::Zone;

/// A cron expression, its zone, and the policy for the zone's clock changes.
#[derive(Debug, Clone, PartialEq)]
pub struct CronSchedule {
    expression: String,
    clock: WallClock,
    pub(super) times: CronTimes,
}

impl CronSchedule {
    /// Parses a Quartz expression of six or seven fields and the IANA name of a zone.
    ///
    /// Under [`ClockChanges::Xxl`] exactly one of the two day fields must be `?`, as in xxl-job. Otherwise a `*` in one of
    /// them counts as `?` if the other one is restricted, because no other meaning is possible.
    ///
    /// # Errors
    /// Names `schedule.expression` or `schedule.timezone`.
    pub fn parse(expression: &str, timezone: &str, clock_changes: ClockChanges) -> Result<Self, FieldError> {
        Self::parse_dialect(Dialect::Quartz, expression, timezone, clock_changes)
    }

    /// Parses an expression of either dialect; a Unix one has five fields, or is a word such as `@daily`.
    ///
    /// # Errors
    /// Names `schedule.expression` or `schedule.timezone`.
    pub fn parse_dialect(
        dialect: Dialect,
        expression: &str,
        timezone: &str,
        clock_changes: ClockChanges,
    ) -> Result<Self, FieldError> {
        let clock = WallClock::parse(timezone, clock_changes)?;
        let fields = match dialect {
            Dialect::Quartz if clock_changes == ClockChanges::Xxl => CronFields::parse_strict(expression),
            dialect => CronFields::parse(dialect, expression),
        };
        let wrong = |problem: String| FieldError::new("schedule.expression", problem);
        let times = CronTimes::new(fields.map_err(|error| wrong(error.to_string()))?).map_err(wrong)?;
        // On one line, as the field of a form holds it.
        let expression = expression.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self { expression, clock, times })
    }

    /// The expression with one blank between two fields.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The zone whose wall clock the fields refer to.
    pub const fn timezone(&self) -> Zone {
        self.clock.timezone
    }

    /// The first instant after `t`: strictly later and on a whole second, within 100 years. Under
    /// [`ClockChanges::Xxl`] this is xxl-job's own answer: after a moment in the first pass of a repeated hour it leaves
    /// out the times that the wall clock has already shown.
    pub fn next_after(&self, t: Millis) -> Option<Millis> {
        self.after(NextRule::LikeXxlJob, None, t)
    }

    /// The first instant after `t` on days that no calendar excludes.
    pub(crate) fn after(&self, rule: NextRule, days: Option<&WorkingDays>, t: Millis) -> Option<Millis> {
        self.clock.after(rule, &self.times, days, t)
    }
}
