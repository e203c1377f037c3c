//! From what a wall clock shows to instants: one place for all kinds of schedule that live in a time zone.
//!
//! A kind says which wall-clock times it means ([`WallTimes`]), and nothing of zones. `zone` knows when a zone's clock
//! shows a time: never, once or twice. `changes` has one function for each policy.

mod changes;
mod zone;

use chrono::NaiveDateTime;
use chrono_tz::Tz;

use super::working_days::WorkingDays;
use crate::Millis;
use crate::job::FieldError;
use crate::words::{first_is_default, words};

words! {
    /// What a schedule does when the clocks of its zone change.
    pub enum ClockChanges: "clock change policy" {
        /// Where every hour is admitted, each real second whose wall clock matches fires. Other hours fire once: in the
        /// first pass of a repeated hour, and at the end of the gap if the clock skips the time.
        Carillon = 0 "carillon",
        /// As xxl-job: a skipped time is lost, and of a repeated hour only the second pass fires.
        Xxl = 1 "xxl",
    }
}

first_is_default!(ClockChanges);

/// Wall-clock times on whole seconds, wherever the clock may hang.
pub(super) trait WallTimes {
    /// The first one at or after `from`, within 100 years.
    fn at_or_after(&self, from: NaiveDateTime) -> Option<NaiveDateTime>;

    /// Whether no hour of the day is left out: then real time decides when the clocks change.
    fn every_hour(&self) -> bool;
}

/// What is asked for. The two differ only under [`ClockChanges::Xxl`] and from inside the first pass of a repeated hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// xxl-job's own answer: there it leaves out what the clock has shown already.
    Next,
    /// The next member of the set of instants, whoever asks.
    Instant,
}

/// A zone's clock, and what is done when it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WallClock {
    pub timezone: Tz,
    pub changes: ClockChanges,
}

impl WallClock {
    /// Reads the IANA name of a zone.
    pub fn parse(timezone: &str, changes: ClockChanges) -> Result<Self, FieldError> {
        let timezone = timezone.trim().parse().map_err(|_| {
            let message =
                format!("`{timezone:.64}` is not a time zone; write an IANA name such as UTC or Asia/Shanghai");
            FieldError::new("schedule.timezone", message)
        })?;
        Ok(Self { timezone, changes })
    }

    /// The first instant after `t` on days that calendars leave: strictly later and on a whole second.
    pub fn after(self, ask: Ask, times: &impl WallTimes, days: Option<&WorkingDays>, t: Millis) -> Option<Millis> {
        match days {
            None => self.shown_after(ask, times, t),
            Some(days) => self.shown_after(ask, &days.of(times), t),
        }
    }

    fn shown_after(self, ask: Ask, times: &impl WallTimes, t: Millis) -> Option<Millis> {
        let (zone, t) = (self.timezone, t.div_euclid(1_000));
        let next = match (self.changes, ask) {
            (ClockChanges::Carillon, _) => changes::carillon(times, zone, t),
            (ClockChanges::Xxl, Ask::Next) => changes::xxl_asked_at(times, zone, t),
            (ClockChanges::Xxl, Ask::Instant) => changes::xxl(times, zone, t),
        };
        next.map(|second| second * 1_000)
    }
}

/// The first instant after `t` where the wall clock shows UTC, which never changes.
pub(super) fn utc_after(times: &impl WallTimes, t: Millis) -> Option<Millis> {
    let from = zone::shown(Tz::UTC, t.div_euclid(1_000) + 1)?;
    Some(times.at_or_after(from)?.and_utc().timestamp_millis())
}
