use super::misfire::{CatchUp, MisfirePolicy};
use super::plan_input::PlanInput;
use super::skipped::{SkipReason, Skipped};
use super::sweep::{self, Sweep};
use crate::schedule::Schedule;
use crate::time::Millis;

/// The result of [`plan`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Instants that run, ascending.
    pub fires: Vec<Millis>,
    /// Ranges of instants that do not run.
    pub skipped: Vec<Skipped>,
    /// The first instant that this plan does not record; `None`: the job never fires again.
    pub next_fire_at: Option<Millis>,
}

/// Plans the instants from `cursor`, the job's first unrecorded instant, up to and including `horizon`.
///
/// * Later than `now − threshold`, but before `now`: all fire, or with [`CatchUp::Latest`] only the last of them.
/// * Older, by [`MisfirePolicy`]: `FireOnce` fires the latest unless a later instant fires in this same plan; `Skip` fires
///   none; `FireAll` fires the latest `misfire_limit`; `FireWithin` fires those at most `misfire_window_ms` old. The others
///   are skipped.
/// * From `now` on: each fires.
///
/// After `limit` fires the plan stops early; a further plan from `next_fire_at` continues exactly there. With a `limit` of
/// 0 nothing is recorded. After `fires_left` fires the schedule is exhausted: `next_fire_at` is `None`, and later instants
/// do not exist. A fixed delay whose only instant is skipped continues one delay after `now`.
///
/// The work is bounded however old the cursor is: at most about 20,000 steps and some binary searches besides the fires
/// themselves.
pub fn plan(input: &PlanInput<'_>, cursor: Millis, now: Millis, horizon: Millis, limit: usize) -> Plan {
    let mut plan = Plan { next_fire_at: Some(cursor), ..Plan::default() };
    if limit == 0 {
        return plan;
    }
    let fires_left = input.fires_left.map_or(usize::MAX, |left| left as usize);
    let limit = limit.min(fires_left);
    if limit > 0 {
        plan.fill(input, now, horizon.saturating_add(1), limit);
    }
    if plan.fires.len() == fires_left {
        plan.next_fire_at = None;
    }
    plan
}

impl Plan {
    /// Records instants before `end` until `limit` of them fire.
    fn fill(&mut self, input: &PlanInput<'_>, now: Millis, end: Millis, limit: usize) {
        let schedule = input.schedule;
        let missed_before = now.saturating_sub(input.misfire_threshold_ms).min(end);
        self.skip_missed(input, now, missed_before, end);
        self.fire(schedule, missed_before, limit);
        if input.catch_up == CatchUp::Latest && self.fires.len() < limit {
            self.coalesce(schedule, now.min(end));
        }
        self.fire(schedule, end, limit);
    }

    /// Each instant before `before` fires, while the plan has fewer than `limit` fires.
    fn fire(&mut self, schedule: &Schedule, before: Millis, limit: usize) {
        while self.fires.len() < limit
            && let Some(instant) = self.next_fire_at.filter(|&instant| instant < before)
        {
            self.fires.push(instant);
            self.next_fire_at = schedule.instant_after(instant);
        }
    }

    /// Applies the misfire policy to the instants before `before`: skips those that do not fire.
    fn skip_missed(&mut self, input: &PlanInput<'_>, now: Millis, before: Millis, end: Millis) {
        let schedule = input.schedule;
        let Some(cursor) = self.next_fire_at.filter(|&cursor| cursor < before) else {
            return;
        };
        match input.misfire {
            MisfirePolicy::FireOnce => self.fire_once(schedule, before, end),
            MisfirePolicy::Skip => self.skip(schedule, before),
            MisfirePolicy::FireAll => {
                let first = sweep::first_of_latest(schedule, input.misfire_limit, cursor, before);
                self.skip(schedule, first);
            }
            MisfirePolicy::FireWithin => {
                let oldest = now.saturating_sub(input.misfire_window_ms);
                self.skip(schedule, oldest.min(before));
            }
        }
        if schedule.is_delay() && self.fires.is_empty() && self.next_fire_at.is_none() {
            self.next_fire_at = schedule.after_end(now);
        }
    }

    fn fire_once(&mut self, schedule: &Schedule, before: Millis, end: Millis) {
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

    /// Of the instants before `before` only the last fires.
    fn coalesce(&mut self, schedule: &Schedule, before: Millis) {
        if let Some(late) = self.sweep(schedule, before) {
            self.fire_last(late, SkipReason::Coalesced);
        }
    }

    fn fire_last(&mut self, sweep: Sweep, reason: SkipReason) {
        self.skipped.extend(sweep.but_last(reason));
        self.fires.push(sweep.last);
    }

    /// Moves the cursor past all instants before `before`, if there are any.
    fn sweep(&mut self, schedule: &Schedule, before: Millis) -> Option<Sweep> {
        let first = self.next_fire_at.filter(|&instant| instant < before)?;
        let sweep = Sweep::new(schedule, first, before);
        self.next_fire_at = sweep.next;
        Some(sweep)
    }
}
