//! What is to be recorded of a job's instants, and where the job goes on.
//!
//! A plan is the pure half of a claim: it splits the instants from the cursor up to the horizon into those that fire
//! and ranges of skipped ones. Every instant is in exactly one of them, whatever the policies say.

mod sweep;

use self::sweep::Swept;
use crate::Millis;
use crate::misfire::{self, CatchUp, MisfirePolicy};
use crate::schedule::Schedule;
use crate::words::words;

/// Skipped instants are counted exactly up to this number; a greater count is written as this number.
pub const COUNT_LIMIT: u32 = 10_000;

/// What a plan needs to know of a job.
#[derive(Debug, Clone, Copy)]
pub struct Timing<'a> {
    /// When it fires.
    pub schedule: &'a Schedule,
    /// What is done with instants that are late by at most the threshold.
    pub catch_up: CatchUp,
    /// What is done with older ones.
    pub misfire: MisfirePolicy,
    /// The threshold, in ms.
    pub misfire_threshold_ms: i64,
    /// How many missed instants [`MisfirePolicy::FireAll`] runs.
    pub misfire_limit: u32,
    /// How old a missed instant may be that [`MisfirePolicy::FireWithin`] runs, in ms.
    pub misfire_window_ms: i64,
    /// After so many fires the schedule is exhausted; `None`: never.
    pub fires_left: Option<u32>,
}

impl<'a> Timing<'a> {
    /// A schedule with every default.
    pub fn of(schedule: &'a Schedule) -> Self {
        Self {
            schedule,
            catch_up: CatchUp::default(),
            misfire: MisfirePolicy::default(),
            misfire_threshold_ms: misfire::DEFAULT_THRESHOLD_SECONDS * 1_000,
            misfire_limit: misfire::DEFAULT_LIMIT.unsigned_abs(),
            misfire_window_ms: misfire::DEFAULT_WINDOW_SECONDS * 1_000,
            fires_left: None,
        }
    }
}

words! {
    /// Why instants were skipped.
    pub enum SkipReason: "reason" {
        /// Later than the threshold.
        Misfire = 0 "misfire",
        /// Late, and only the latest was wanted.
        Coalesced = 1 "coalesced",
    }
}

/// A range of instants that do not run. Both ends are instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// The first of them.
    pub from_at: Millis,
    /// The last of them.
    pub to_at: Millis,
    /// How many; [`COUNT_LIMIT`] means "so many or more".
    pub count: u32,
    /// Why.
    pub reason: SkipReason,
}

/// What [`plan`] decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Instants that run, ascending.
    pub fires: Vec<Millis>,
    /// Ranges that do not.
    pub skipped: Vec<Skipped>,
    /// The first instant that this plan does not record; `None`: the job never fires again.
    pub next_fire_at: Option<Millis>,
}

/// Plans the instants from `cursor`, the job's first unrecorded instant, up to and including `horizon`.
///
/// * Later than `now − threshold`, but before `now`: all fire, or with [`CatchUp::Latest`] only the last of them.
/// * Older, in the order of [`MisfirePolicy`]: the latest fires unless a later instant fires in this same plan; none
///   does; the latest `misfire_limit` do; those that are at most `misfire_window_ms` old do. The others are skipped.
/// * From `now` on: each fires.
///
/// After `limit` fires it stops early; a further plan from `next_fire_at` goes on exactly there. With a `limit` of 0
/// nothing is recorded. After `fires_left` fires the schedule is exhausted: `next_fire_at` is `None`, and what it would
/// still have said does not exist. A fixed delay whose one instant is skipped goes on one delay after `now`.
///
/// The work is bounded however long ago the cursor lies: at most about 20,000 steps and some binary searches besides
/// the fires themselves.
pub fn plan(timing: &Timing<'_>, cursor: Millis, now: Millis, horizon: Millis, limit: usize) -> Plan {
    let mut plan = Plan { next_fire_at: Some(cursor), ..Plan::default() };
    if limit == 0 {
        return plan;
    }
    let left = timing.fires_left.map_or(usize::MAX, |left| left as usize);
    let limit = limit.min(left);
    if limit > 0 {
        plan.fill(timing, now, horizon.saturating_add(1), limit);
    }
    if plan.fires.len() == left {
        plan.next_fire_at = None;
    }
    plan
}

impl Plan {
    /// Records instants before `end` until `limit` of them fire.
    fn fill(&mut self, timing: &Timing<'_>, now: Millis, end: Millis, limit: usize) {
        let schedule = timing.schedule;
        let missed_before = now.saturating_sub(timing.misfire_threshold_ms).min(end);
        self.pass_missed(timing, now, missed_before, end);
        self.fire(schedule, missed_before, limit);
        if timing.catch_up == CatchUp::Latest && self.fires.len() < limit {
            self.coalesce(schedule, now.min(end));
        }
        self.fire(schedule, end, limit);
    }

    /// Lets each instant before `before` fire while there are fewer than `limit`.
    fn fire(&mut self, schedule: &Schedule, before: Millis, limit: usize) {
        while self.fires.len() < limit
            && let Some(instant) = self.next_fire_at.filter(|&instant| instant < before)
        {
            self.fires.push(instant);
            self.next_fire_at = schedule.instant_after(instant);
        }
    }

    /// Skips those of the instants before `before` that the misfire policy does not let fire.
    fn pass_missed(&mut self, timing: &Timing<'_>, now: Millis, before: Millis, end: Millis) {
        let schedule = timing.schedule;
        let Some(cursor) = self.next_fire_at.filter(|&cursor| cursor < before) else {
            return;
        };
        match timing.misfire {
            MisfirePolicy::FireOnce => self.pass_all_but_one(schedule, before, end),
            MisfirePolicy::Skip => self.skip(schedule, before),
            MisfirePolicy::FireAll => {
                let first = sweep::latest(schedule, timing.misfire_limit, cursor, before);
                self.skip(schedule, first);
            }
            MisfirePolicy::FireWithin => {
                let oldest = now.saturating_sub(timing.misfire_window_ms);
                self.skip(schedule, oldest.min(before));
            }
        }
        if schedule.is_delay() && self.fires.is_empty() && self.next_fire_at.is_none() {
            self.next_fire_at = schedule.after_end(now);
        }
    }

    fn pass_all_but_one(&mut self, schedule: &Schedule, before: Millis, end: Millis) {
        if let Some(missed) = self.sweep(schedule, before) {
            if missed.next.is_some_and(|next| next < end) {
                self.skipped.push(missed.all(SkipReason::Misfire));
            } else {
                self.fire_last(missed, SkipReason::Misfire);
            }
        }
    }

    fn skip(&mut self, schedule: &Schedule, before: Millis) {
        if let Some(missed) = self.sweep(schedule, before) {
            self.skipped.push(missed.all(SkipReason::Misfire));
        }
    }

    /// Of all instants before `before` only the last fires.
    fn coalesce(&mut self, schedule: &Schedule, before: Millis) {
        if let Some(late) = self.sweep(schedule, before) {
            self.fire_last(late, SkipReason::Coalesced);
        }
    }

    fn fire_last(&mut self, swept: Swept, reason: SkipReason) {
        self.skipped.extend(swept.but_last(reason));
        self.fires.push(swept.last);
    }

    /// Moves past all instants before `before`, if there are any.
    fn sweep(&mut self, schedule: &Schedule, before: Millis) -> Option<Swept> {
        let first = self.next_fire_at.filter(|&instant| instant < before)?;
        let swept = Swept::new(schedule, first, before);
        self.next_fire_at = swept.next;
        Some(swept)
    }
}

#[cfg(test)]
mod tests;
