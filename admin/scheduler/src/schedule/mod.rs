//! When a job fires.
//!
//! A schedule is stored as its [`ScheduleDraft`] and the [`Facts`] that belong to it, and parsed again when it is used.
//! Everything here is arithmetic on UTC milliseconds.

pub mod calendar;
pub mod cron;
mod daily;
mod draft;
mod interval;
mod kind;
mod once;
mod parse;
pub(crate) mod time;
mod wall_clock;
mod weekday;
mod working_days;

use std::sync::Arc;

pub use calendar::{Calendar, Excluded};
pub use cron::{CronSchedule, Dialect};
pub use draft::{CronDraft, DailyDraft, KindDraft, ScheduleDraft, ScheduleInput};
pub use interval::FixedRate;
pub use wall_clock::ClockChanges;
pub use weekday::Weekday;

use self::kind::Kind;
use self::wall_clock::Ask;
use self::working_days::WorkingDays;
use crate::Millis;

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
        Self { anchor_at, spread_offset_seconds: 0, calendars: &[] }
    }
}

/// A schedule that cannot be wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    kind: Kind,
    days: Option<WorkingDays>,
    offset_ms: i64,
    draft: ScheduleDraft,
    anchor_at: Millis,
}

impl Schedule {
    /// No schedule.
    pub fn none() -> Self {
        Self { kind: Kind::None, days: None, offset_ms: 0, draft: ScheduleDraft::none(), anchor_at: 0 }
    }

    /// The first instant after `t`: strictly later and on a whole second. `None`: it never fires again, or not within
    /// 100 years of `t`; of a fixed delay always, since its instants depend on the ends of runs.
    pub fn next_after(&self, t: Millis) -> Option<Millis> {
        self.after(Ask::Next, t)
    }

    /// The first member of the *set of instants* after `t`. It differs from [`Schedule::next_after`] only where
    /// xxl-job's answer depends on who asks: from inside the first pass of a repeated hour.
    pub(crate) fn instant_after(&self, t: Millis) -> Option<Millis> {
        self.after(Ask::Instant, t)
    }

    /// The kind's instants on days that calendars leave, moved by the offset, inside the validity: in this order.
    fn after(&self, ask: Ask, t: Millis) -> Option<Millis> {
        let before_start = self.draft.start_at.map_or(t, |start| start.saturating_sub(1));
        let t = t.max(before_start).checked_sub(self.offset_ms)?;
        let at = self.kind.after(ask, self.days.as_ref(), t)?;
        self.until_end(at.checked_add(self.offset_ms)?)
    }

    fn until_end(&self, at: Millis) -> Option<Millis> {
        (at <= self.draft.end_at.unwrap_or(Millis::MAX)).then_some(at)
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
    pub const fn is_delay(&self) -> bool {
        matches!(self.kind, Kind::FixedDelay(_))
    }

    /// The instant of a fixed delay that follows a run which ended at `ended_at`: the first whole second that is at least
    /// the delay later. If calendars exclude its day, it is the first second of the next day that they leave, or the same
    /// time of that day under [`Excluded::NextWorkingDay`]; before the validity it is its first second. `None` of every
    /// other kind, and after the end of the validity.
    pub fn after_end(&self, ended_at: Millis) -> Option<Millis> {
        let Kind::FixedDelay(delay) = &self.kind else {
            return None;
        };
        let earliest = match self.draft.start_at {
            Some(start) => whole_second(start.checked_sub(self.offset_ms)?)?,
            None => Millis::MIN,
        };
        let at = delay.after_end(ended_at)?.max(earliest);
        let at = match &self.days {
            Some(days) => days.moved_utc(at)?,
            None => at,
        };
        self.until_end(at.checked_add(self.offset_ms)?)
    }

    /// Up to `count` instants after `t`; of a fixed delay those of runs that take no time at all.
    pub fn following(&self, t: Millis, count: usize) -> Vec<Millis> {
        std::iter::successors(self.first_after(t), |&instant| self.first_after(instant)).take(count).collect()
    }

    /// What it was parsed from, tidied up (without the facts).
    pub fn draft(&self) -> ScheduleDraft {
        self.draft.clone()
    }

    /// The moment from which a fixed rate counts.
    pub const fn anchor_at(&self) -> Millis {
        self.anchor_at
    }

    /// By how much every instant is moved, in s: the job's share of its spread.
    pub const fn spread_offset_seconds(&self) -> i64 {
        self.offset_ms / 1_000
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

/// The first whole second at or after `at`.
fn whole_second(at: Millis) -> Option<Millis> {
    Some(at.checked_add(999)?.div_euclid(1_000) * 1_000)
}
