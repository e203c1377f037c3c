//! The kinds of schedules without what they have in common: validity, calendars, spread.

use super::cron::{CronSchedule, Dialect};
use super::daily::Daily;
use super::interval::{FixedDelay, FixedRate};
use super::once::Once;
use super::wall_clock::{Ask, utc_after};
use super::working_days::WorkingDays;
use super::{CronDraft, KindDraft};
use crate::Millis;
use crate::job::FieldError;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Never by itself: only run by hand, by the API or as a child.
    None,
    /// By the wall clock of a time zone.
    Cron(CronSchedule),
    /// Every so many seconds from the anchor on.
    FixedRate(FixedRate),
    /// So many seconds after the end of a run.
    FixedDelay(FixedDelay),
    /// At one moment.
    Once(Once),
    /// Between two times of day.
    Daily(Daily),
}

impl Kind {
    pub fn parse(draft: &KindDraft, anchor_at: Millis) -> Result<Self, FieldError> {
        let cron = |dialect, cron: &CronDraft| {
            CronSchedule::read(dialect, &cron.expression, &cron.timezone, cron.clock_changes)
        };
        match draft {
            KindDraft::None => Ok(Self::None),
            KindDraft::Cron(draft) => cron(Dialect::Quartz, draft).map(Self::Cron),
            KindDraft::UnixCron(draft) => cron(Dialect::Unix, draft).map(Self::Cron),
            KindDraft::FixedRate { seconds } => FixedRate::new(*seconds, anchor_at).map(Self::FixedRate),
            KindDraft::FixedDelay { seconds } => FixedDelay::new(*seconds).map(Self::FixedDelay),
            KindDraft::Once { at } => Ok(Self::Once(Once::new(*at))),
            KindDraft::Daily(draft) => Daily::parse(draft).map(Self::Daily),
        }
    }

    /// The draft that it was parsed from as it is kept: without blanks, times in full.
    pub fn tidy(&self, draft: &mut KindDraft) {
        match (self, draft) {
            (Self::Cron(cron), KindDraft::Cron(draft) | KindDraft::UnixCron(draft)) => {
                cron.expression().clone_into(&mut draft.expression);
                cron.timezone().name().clone_into(&mut draft.timezone);
            }
            (Self::Once(once), KindDraft::Once { at }) => *at = once.at(),
            (Self::Daily(daily), KindDraft::Daily(draft)) => *draft = daily.tidy(draft),
            _ => {}
        }
    }

    /// The first instant after `t` on days that calendars leave; of a fixed delay there is none.
    pub fn after(&self, ask: Ask, days: Option<&WorkingDays>, t: Millis) -> Option<Millis> {
        match (self, days) {
            (Self::None | Self::FixedDelay(_), _) => None,
            (Self::Cron(cron), _) => cron.after(ask, days, t),
            (Self::Daily(daily), _) => daily.clock.after(ask, &daily.window, days, t),
            (Self::FixedRate(rate), None) => rate.next_after(t),
            (Self::FixedRate(rate), Some(days)) => utc_after(&days.of(rate), t),
            (Self::Once(once), None) => (once.at() > t).then(|| once.at()),
            (Self::Once(once), Some(days)) => utc_after(&days.of(once), t),
        }
    }
}
