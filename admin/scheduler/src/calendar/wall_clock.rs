//! From wall-clock times to instants: one place for all kinds of schedule that have a time zone.

use super::clock_changes::{self, ClockChanges};
use super::wall_times::WallTimes;
use super::working_days::WorkingDays;
use super::zone::local_time;
use crate::field_error::FieldError;
use crate::time::Millis;
use crate::zone::Zone;

/// Which instant counts as the next one. The two differ only under [`ClockChanges::Xxl`], and only after a moment in the
/// first pass of a repeated hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextRule {
    /// xxl-job's answer: it leaves out wall-clock times that the clock has already shown.
    LikeXxlJob,
    /// The next member of the schedule's set of instants, which does not depend on the moment of the call.
    NextInSet,
}

/// The clock of a time zone, and the policy for its clock changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WallClock {
    pub timezone: Zone,
    pub changes: ClockChanges,
}

impl WallClock {
    /// Parses the IANA name of a zone.
    pub fn parse(timezone: &str, changes: ClockChanges) -> Result<Self, FieldError> {
        let timezone = timezone.trim().parse().map_err(|_| {
            let message =
                format!("`{timezone:.64}` is not a time zone; write an IANA name such as UTC or Asia/Shanghai");
            FieldError::new("schedule.timezone", message)
        })?;
        Ok(Self { timezone, changes })
    }

    /// The first instant after `t` on days that no calendar excludes: strictly later and on a whole second.
    pub fn after(
        self,
        rule: NextRule,
        times: &impl WallTimes,
        days: Option<&WorkingDays>,
        t: Millis,
    ) -> Option<Millis> {
        match days {
            None => self.instant_after(rule, times, t),
            Some(days) => self.instant_after(rule, &days.filter(times), t),
        }
    }

    fn instant_after(self, rule: NextRule, times: &impl WallTimes, t: Millis) -> Option<Millis> {
        let (zone, t) = (self.timezone, t.div_euclid(1_000));
        let next = match (self.changes, rule) {
            (ClockChanges::Carillon, _) => clock_changes::next_carillon(times, zone, t),
            (ClockChanges::Xxl, NextRule::LikeXxlJob) => clock_changes::next_like_xxl_job(times, zone, t),
            (ClockChanges::Xxl, NextRule::NextInSet) => clock_changes::next_in_xxl_set(times, zone, t),
        };
        next.map(|second| second * 1_000)
    }
}

/// The first instant after `t` of times in UTC, whose clock never changes.
pub(crate) fn utc_after(times: &impl WallTimes, t: Millis) -> Option<Millis> {
    let from = local_time(Zone::UTC, t.div_euclid(1_000) + 1)?;
    Some(times.at_or_after(from)?.and_utc().timestamp_millis())
}
