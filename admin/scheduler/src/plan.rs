//! What is to be recorded of a job's instants, and where the job goes on.
//!
//! A plan is the pure half of a claim: it splits the instants from the cursor up to the horizon into those that fire
//! and ranges of skipped ones. Every instant is in exactly one of them, whatever the policies say.

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
/// * Older: none fires, unless [`MisfirePolicy::FireOnce`] finds no later instant in this same plan; then the latest
///   of them does.
/// * From `now` on: each fires.
///
/// After `limit` fires it stops early; a further plan from `next_fire_at` goes on exactly there. With a `limit` of 0
/// nothing is recorded. The work is bounded however long ago the cursor lies: at most about 20,000 steps and some
/// binary searches besides the fires themselves.
pub fn plan(
    timing: &Timing<'_>,
    cursor: Millis,
    now: Millis,
    horizon: Millis,
    limit: usize,
) -> Plan {
    let mut plan = Plan {
        next_fire_at: Some(cursor),
        ..Plan::default()
    };
    if limit == 0 {
        return plan;
    }
    let end = horizon.saturating_add(1);
    let missed_before = now.saturating_sub(timing.misfire_threshold_ms).min(end);
    plan.pass_missed(timing, missed_before, end);
    if timing.catch_up == CatchUp::Latest {
        plan.coalesce(timing.schedule, now.min(end));
    }
    while plan.fires.len() < limit
        && let Some(instant) = plan.next_fire_at.filter(|&instant| instant < end)
    {
        plan.fires.push(instant);
        plan.next_fire_at = timing.schedule.instant_after(instant);
    }
    plan
}

impl Plan {
    /// Applies the misfire policy to all instants before `before`.
    fn pass_missed(&mut self, timing: &Timing<'_>, before: Millis, end: Millis) {
        let Some(missed) = self.sweep(timing.schedule, before) else {
            return;
        };
        let later_one_fires = missed.next.is_some_and(|next| next < end);
        if timing.misfire == MisfirePolicy::Skip || later_one_fires {
            self.skipped.push(missed.all(SkipReason::Misfire));
        } else {
            self.fire_last(missed, SkipReason::Misfire);
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

/// The instants of a range that ends before some moment.
#[derive(Debug, Clone, Copy)]
struct Swept {
    first: Millis,
    /// The one before the last, if there is more than one.
    last_but_one: Option<Millis>,
    last: Millis,
    /// Exact up to the limit; one above it means more.
    count: u32,
    /// The first instant after the range.
    next: Option<Millis>,
}

impl Swept {
    /// Counts from `first`, an instant, while instants lie before `before`; past the limit it jumps.
    fn new(schedule: &Schedule, first: Millis, before: Millis) -> Self {
        let mut swept = Self {
            first,
            last_but_one: None,
            last: first,
            count: 1,
            next: schedule.instant_after(first),
        };
        while let Some(next) = swept.next.filter(|&next| next < before) {
            if swept.count > COUNT_LIMIT {
                swept.jump(schedule, before);
                break;
            }
            swept.last_but_one = Some(swept.last);
            swept.last = next;
            swept.count += 1;
            swept.next = schedule.instant_after(next);
        }
        swept
    }

    /// Finds the end of the range without visiting what lies between.
    fn jump(&mut self, schedule: &Schedule, before: Millis) {
        let from = self.last;
        self.last = latest_before(schedule, from, before);
        self.last_but_one = Some(latest_before(schedule, from, self.last));
        self.next = schedule.instant_after(self.last);
    }

    fn all(&self, reason: SkipReason) -> Skipped {
        Skipped {
            from_at: self.first,
            to_at: self.last,
            count: self.count.min(COUNT_LIMIT),
            reason,
        }
    }

    fn but_last(&self, reason: SkipReason) -> Option<Skipped> {
        let to_at = self.last_but_one?;
        Some(Skipped {
            from_at: self.first,
            to_at,
            count: (self.count - 1).min(COUNT_LIMIT),
            reason,
        })
    }
}

/// The latest instant before `before`, by bisection; `from` is an instant before it. Sound because the instant after
/// a moment never lies before the instant after an earlier moment.
fn latest_before(schedule: &Schedule, from: Millis, before: Millis) -> Millis {
    let (mut instant, mut none_after) = (from, before);
    while none_after - instant > 1 {
        let middle = instant + (none_after - instant) / 2;
        match schedule.instant_after(middle) {
            Some(next) if next < before => instant = next,
            _ => none_after = middle,
        }
    }
    instant
}

#[cfg(test)]
mod tests;
