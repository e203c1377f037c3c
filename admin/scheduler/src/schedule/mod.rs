//! When a job fires.
//!
//! A schedule is stored as its [`ScheduleDraft`] and the anchor, and parsed again when it is used. Everything here is
//! arithmetic on UTC milliseconds; a time zone matters to cron alone.

pub mod cron;
mod draft;
mod interval;

pub use cron::{ClockChanges, CronSchedule};
pub use draft::ScheduleDraft;
pub use interval::FixedRate;

use crate::Millis;
use crate::job::FieldError;

/// A schedule that cannot be wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Schedule {
    /// Never by itself: only run by hand, by the API or as a child.
    None,
    /// By the wall clock of a time zone.
    Cron(CronSchedule),
    /// Every so many seconds from the anchor on.
    FixedRate(FixedRate),
}

impl Schedule {
    /// Checks a draft. `anchor_at` is the moment of the job's creation, from which a fixed rate counts.
    ///
    /// # Errors
    /// Names the member (`schedule.expression`, `schedule.timezone`, `schedule.seconds`) and says what would be right.
    pub fn parse(draft: &ScheduleDraft, anchor_at: Millis) -> Result<Self, FieldError> {
        match draft {
            ScheduleDraft::None => Ok(Self::None),
            ScheduleDraft::Cron {
                expression,
                timezone,
                clock_changes,
            } => CronSchedule::parse(expression, timezone, *clock_changes).map(Self::Cron),
            ScheduleDraft::FixedRate { seconds } => {
                FixedRate::new(*seconds, anchor_at).map(Self::FixedRate)
            }
        }
    }

    /// The first instant after `t`: strictly later and on a whole second. `None`: it never fires again, or not within
    /// 100 years of `t`.
    pub fn next_after(&self, t: Millis) -> Option<Millis> {
        match self {
            Self::None => None,
            Self::Cron(cron) => cron.next_after(t),
            Self::FixedRate(rate) => rate.next_after(t),
        }
    }

    /// The first member of the *set of instants* after `t`. It differs from [`Schedule::next_after`] only where
    /// xxl-job's answer depends on who asks: from inside the first pass of a repeated hour.
    pub(crate) fn instant_after(&self, t: Millis) -> Option<Millis> {
        match self {
            Self::Cron(cron) => cron.instant_after(t),
            _ => self.next_after(t),
        }
    }

    /// Up to `count` instants after `t`.
    pub fn following(&self, t: Millis, count: usize) -> Vec<Millis> {
        std::iter::successors(self.next_after(t), |&instant| self.next_after(instant))
            .take(count)
            .collect()
    }

    /// What it was parsed from (without the anchor).
    pub fn draft(&self) -> ScheduleDraft {
        match self {
            Self::None => ScheduleDraft::None,
            Self::Cron(cron) => cron.draft(),
            Self::FixedRate(rate) => ScheduleDraft::FixedRate {
                seconds: rate.seconds(),
            },
        }
    }

    /// Its `kind` in the API.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Cron(_) => "cron",
            Self::FixedRate(_) => "fixed_rate",
        }
    }
}
