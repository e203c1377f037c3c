//! The kinds of schedules, without what they have in common: validity, calendars, spread.

use super::daily::Daily;
use super::draft::{CronDraft, KindDraft};
use super::interval::{FixedDelay, FixedRate};
use super::once::Once;
use crate::calendar::{NextRule, WorkingDays, utc_after};
use crate::cron::{CronSchedule, Dialect};
use crate::field_error::FieldError;
use crate::time::Millis;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Never fires: runs are started manually, by the API, or as a child.
    None,
    /// By the wall clock of a time zone.
    Cron(CronSchedule),
    /// At a fixed period from the anchor on.
    FixedRate(FixedRate),
    /// A fixed delay after the end of a run.
    FixedDelay(FixedDelay),
    /// At one instant.
    Once(Once),
    /// Between two times of day.
    Daily(Daily),
}

impl Kind {
    pub fn parse(draft: &KindDraft, anchor_at: Millis) -> Result<Self, FieldError> {
        let cron = |dialect, cron: &CronDraft| {
            CronSchedule::parse_dialect(dialect, &cron.expression, &cron.timezone, cron.clock_changes)
        };
        match draft {
            KindDraft::None => Ok(Self::None),
            KindDraft::Cron(draft) => cron(Dialect::Quartz, draft).map(Self::Cron),
            KindDraft::UnixCron(draft) => cron(Dialect::Unix, draft).map(Self::Cron),
            KindDraft::FixedRate { seconds } => FixedRate::new(*seconds, anchor_at).map(Self::FixedRate),
            KindDraft::FixedPeriod { milliseconds } => {
                FixedRate::in_milliseconds(*milliseconds, anchor_at).map(Self::FixedRate)
            }
            KindDraft::FixedDelay { seconds } => FixedDelay::new(*seconds).map(Self::FixedDelay),
            KindDraft::Once { at } => Ok(Self::Once(Once::new(*at))),
            KindDraft::Daily(draft) => Daily::parse(draft).map(Self::Daily),
        }
    }

    /// Normalises the draft that it was parsed from: trims blanks and completes times.
    pub fn normalise(&self, draft: &mut KindDraft) {
        match (self, draft) {
            (Self::Cron(cron), KindDraft::Cron(draft) | KindDraft::UnixCron(draft)) => {
                cron.expression().clone_into(&mut draft.expression);
                cron.timezone().name().clone_into(&mut draft.timezone);
            }
            (Self::Once(once), KindDraft::Once { at }) => *at = once.at(),
            (Self::Daily(daily), KindDraft::Daily(draft)) => *draft = daily.normalise(draft),
            _ => {}
        }
    }

    /// The first instant after `t` on days that no calendar excludes; always `None` for a fixed delay.
    pub fn after(&self, rule: NextRule, days: Option<&WorkingDays>, t: Millis) -> Option<Millis> {
        match (self, days) {
            (Self::None | Self::FixedDelay(_), _) => None,
            (Self::Cron(cron), _) => cron.after(rule, days, t),
            (Self::Daily(daily), _) => daily.clock.after(rule, &daily.window, days, t),
            (Self::FixedRate(rate), None) => rate.next_after(t),
            (Self::FixedRate(rate), Some(days)) => utc_after(&days.filter(rate), t),
            (Self::Once(once), None) => (once.at() > t).then(|| once.at()),
            (Self::Once(once), Some(days)) => utc_after(&days.filter(once), t),
        }
    }
}
