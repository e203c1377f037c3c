//! A schedule and its instants.

use std::sync::Arc;

use super::draft::ScheduleDraft;
use super::kind::Kind;
use crate::calendar::{Calendar, NextRule, WorkingDays};
use crate::time::{Millis, round_up_to_second};

/// The values that a schedule needs besides its draft.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScheduleContext<'a> {
    /// The instant of the job's creation, from which a fixed rate counts.
    pub anchor_at: Millis,
    /// The offset within the draft's `spread_seconds` that was chosen for this job.
    pub spread_offset_seconds: u32,
    /// At least the calendars that the draft names.
    pub calendars: &'a [Arc<Calendar>],
}

impl ScheduleContext<'_> {
    /// Without calendars and offset.
    pub const fn from_anchor(anchor_at: Millis) -> Self {
        Self { anchor_at, spread_offset_seconds: 0, calendars: &[] }
    }
}

/// A validated schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    pub(super) kind: Kind,
    pub(super) days: Option<WorkingDays>,
    pub(super) offset_ms: i64,
    pub(super) draft: ScheduleDraft,
    pub(super) anchor_at: Millis,
}

impl Schedule {
    /// The first instant after `t`: strictly later and on a whole second. `None`: it never fires again, or not within
    /// 100 years of `t`. Always `None` for a fixed delay, whose instants depend on the ends of runs.
    pub fn next_after(&self, t: Millis) -> Option<Millis> {
        self.after(NextRule::LikeXxlJob, t)
    }

    /// The first member of the *set of instants* after `t`. It differs from [`Schedule::next_after`] only where xxl-job's
    /// answer depends on the moment of the call: in the first pass of a repeated hour.
    pub(crate) fn instant_after(&self, t: Millis) -> Option<Millis> {
        self.after(NextRule::NextInSet, t)
    }

    /// The kind's instants on days that no calendar excludes, moved by the offset, within the validity: in this order.
    fn after(&self, rule: NextRule, t: Millis) -> Option<Millis> {
        let before_start = self.draft.start_at.map_or(t, |start| start.saturating_sub(1));
        let t = t.max(before_start).checked_sub(self.offset_ms)?;
        let at = self.kind.after(rule, self.days.as_ref(), t)?;
        self.until_end(at.checked_add(self.offset_ms)?)
    }

    fn until_end(&self, at: Millis) -> Option<Millis> {
        (at <= self.draft.end_at.unwrap_or(Millis::MAX)).then_some(at)
    }

    /// The cursor of a job that is enabled, or gets this schedule, at `t`: the next instant, or for a fixed delay its first
    /// run, one delay after `t`.
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

    /// The instant of a fixed delay after a run that ended at `ended_at`: the first whole second that is at least the delay
    /// later. If calendars exclude its day, it is the first second of the next working day, or the same time of that day
    /// under [`Excluded::NextWorkingDay`](crate::Excluded::NextWorkingDay). Before the validity it is the first second of
    /// the validity. `None` for every other kind, and after the end of the validity.
    pub fn after_end(&self, ended_at: Millis) -> Option<Millis> {
        let Kind::FixedDelay(delay) = &self.kind else {
            return None;
        };
        let earliest = match self.draft.start_at {
            Some(start) => round_up_to_second(start.checked_sub(self.offset_ms)?)?,
            None => Millis::MIN,
        };
        let at = delay.after_end(ended_at)?.max(earliest);
        let at = match &self.days {
            Some(days) => days.move_utc(at)?,
            None => at,
        };
        self.until_end(at.checked_add(self.offset_ms)?)
    }

    /// Up to `count` instants after `t`; for a fixed delay as if its runs took no time.
    pub fn following(&self, t: Millis, count: usize) -> Vec<Millis> {
        std::iter::successors(self.first_after(t), |&instant| self.first_after(instant)).take(count).collect()
    }

    /// The normalised draft (without the context).
    pub fn draft(&self) -> ScheduleDraft {
        self.draft.clone()
    }

    /// The instant from which a fixed rate counts.
    pub const fn anchor_at(&self) -> Millis {
        self.anchor_at
    }

    /// The offset of every instant within the spread, in s.
    pub const fn spread_offset_seconds(&self) -> i64 {
        self.offset_ms / 1_000
    }

    /// The number of fires after which it is exhausted.
    pub const fn max_fires(&self) -> Option<u32> {
        self.draft.max_fires
    }

    /// Its `kind` in the API.
    pub fn kind(&self) -> &'static str {
        self.draft.kind()
    }
}
