//! When a job fires.
//!
//! A schedule is stored as its [`ScheduleDraft`] and the [`Facts`] that belong to it, and parsed again when it is used.
//! Everything here is arithmetic on UTC milliseconds.

pub mod calendar;
pub mod cron;
mod draft;
mod interval;
pub(crate) mod time;
mod wall_clock;
mod weekday;

use std::sync::Arc;

pub use calendar::{Calendar, Excluded};
pub use cron::{CronSchedule, Dialect};
pub use draft::{CronDraft, DailyDraft, KindDraft, ScheduleDraft};
pub use interval::FixedRate;
pub use wall_clock::ClockChanges;
pub use weekday::Weekday;

use crate::Millis;
use crate::job::FieldError;

/// What a schedule takes from its surroundings.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// The moment of the job's creation, from which a fixed rate counts.
    pub anchor_at: Millis,
    /// The offset within the draft's `spread_seconds` that was chosen for this job.
    pub spread_offset_seconds: u32,
    /// At least the calendars that the draft names.
    pub calendars: &'a [Arc<Calendar>],
}

impl Facts<'_> {
    /// No calendars, no offset.
    pub const fn anchored(anchor_at: Millis) -> Self {
        Self {
            anchor_at,
            spread_offset_seconds: 0,
            calendars: &[],
        }
    }
}

/// A schedule that cannot be wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    kind: Kind,
    draft: ScheduleDraft,
    anchor_at: Millis,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// Never by itself: only run by hand, by the API or as a child.
    None,
    /// By the wall clock of a time zone.
    Cron(CronSchedule),
    /// Every so many seconds from the anchor on.
    FixedRate(FixedRate),
    /// So many ms after the end of a run.
    FixedDelay(i64),
}

impl Schedule {
    /// Checks a draft.
    ///
    /// # Errors
    /// Names the member (`schedule.expression`, `schedule.timezone`, `schedule.seconds` …) and says what would be right.
    pub fn parse(draft: &ScheduleDraft, facts: &Facts<'_>) -> Result<Self, FieldError> {
        let kind = match &draft.kind {
            KindDraft::None => Kind::None,
            KindDraft::Cron(cron) => {
                CronSchedule::parse(&cron.expression, &cron.timezone, cron.clock_changes)
                    .map(Kind::Cron)?
            }
            KindDraft::UnixCron(cron) => CronSchedule::read(
                Dialect::Unix,
                &cron.expression,
                &cron.timezone,
                cron.clock_changes,
            )
            .map(Kind::Cron)?,
            KindDraft::FixedRate { seconds } => {
                FixedRate::new(*seconds, facts.anchor_at).map(Kind::FixedRate)?
            }
            KindDraft::FixedDelay { seconds } => Kind::FixedDelay(*seconds * 1_000),
            other => {
                let message = format!("{} is not known yet", other.as_str());
                return Err(FieldError::new("schedule.kind", message));
            }
        };
        let mut draft = draft.clone();
        if let (Kind::Cron(cron), KindDraft::Cron(written) | KindDraft::UnixCron(written)) =
            (&kind, &mut draft.kind)
        {
            cron.expression().clone_into(&mut written.expression);
            cron.timezone().name().clone_into(&mut written.timezone);
        }
        Ok(Self {
            kind,
            draft,
            anchor_at: facts.anchor_at,
        })
    }

    /// No schedule.
    pub fn none() -> Self {
        Self {
            kind: Kind::None,
            draft: ScheduleDraft::none(),
            anchor_at: 0,
        }
    }

    /// The first instant after `t`: strictly later and on a whole second. `None`: it never fires again, or not within
    /// 100 years of `t`; of a fixed delay always, since its instants depend on the ends of runs.
    pub fn next_after(&self, t: Millis) -> Option<Millis> {
        match &self.kind {
            Kind::None | Kind::FixedDelay(_) => None,
            Kind::Cron(cron) => cron.next_after(t),
            Kind::FixedRate(rate) => rate.next_after(t),
        }
    }

    /// The first member of the *set of instants* after `t`. It differs from [`Schedule::next_after`] only where
    /// xxl-job's answer depends on who asks: from inside the first pass of a repeated hour.
    pub(crate) fn instant_after(&self, t: Millis) -> Option<Millis> {
        match &self.kind {
            Kind::Cron(cron) => cron.instant_after(t),
            _ => self.next_after(t),
        }
    }

    /// Where the cursor of a job stands that is enabled, or gets this schedule, at `t`: the next instant, or of a fixed
    /// delay its first run, one delay later.
    pub fn first_after(&self, t: Millis) -> Option<Millis> {
        match self.is_delay() {
            true => self.after_end(t),
            false => self.next_after(t),
        }
    }

    /// Whether its instants depend on the ends of runs.
    pub fn is_delay(&self) -> bool {
        matches!(self.kind, Kind::FixedDelay(_))
    }

    /// The instant of a fixed delay that follows a run which ended at `ended_at`: the first whole second that is at least
    /// the delay later. `None` of every other kind, and after the end of its validity.
    pub fn after_end(&self, ended_at: Millis) -> Option<Millis> {
        let Kind::FixedDelay(delay) = &self.kind else {
            return None;
        };
        let at = ended_at.checked_add(*delay)?;
        at.checked_add(999).map(|at| at.div_euclid(1_000) * 1_000)
    }

    /// Up to `count` instants after `t`.
    pub fn following(&self, t: Millis, count: usize) -> Vec<Millis> {
        std::iter::successors(self.next_after(t), |&instant| self.next_after(instant))
            .take(count)
            .collect()
    }

    /// What it was parsed from, tidied up (without the facts).
    pub fn draft(&self) -> ScheduleDraft {
        self.draft.clone()
    }

    /// The moment from which a fixed rate counts.
    pub const fn anchor_at(&self) -> Millis {
        self.anchor_at
    }

    /// After so many runs it is exhausted.
    pub const fn max_fires(&self) -> Option<u32> {
        self.draft.max_fires
    }

    /// Its `kind` in the API.
    pub fn kind(&self) -> &'static str {
        self.draft.kind()
    }
}
