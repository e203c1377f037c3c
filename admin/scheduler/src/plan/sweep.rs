//! Moves past a range of instants without visiting each.

use super::skipped::{COUNT_LIMIT, SkipReason, Skipped};
use crate::schedule::Schedule;
use crate::time::Millis;

/// The instants of a range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweep {
    first: Millis,
    /// The one before the last, if there is more than one.
    last_but_one: Option<Millis>,
    pub last: Millis,
    /// Exact up to [`COUNT_LIMIT`]; one above it means more.
    count: u32,
    /// The first instant after the range.
    pub next: Option<Millis>,
}

impl Sweep {
    /// The instants from `first`, which is one, up to `before`, exclusive. Beyond [`COUNT_LIMIT`] it searches the end
    /// instead of counting.
    pub fn new(schedule: &Schedule, first: Millis, before: Millis) -> Self {
        let mut sweep = Self { first, last_but_one: None, last: first, count: 1, next: schedule.instant_after(first) };
        while let Some(next) = sweep.next.filter(|&next| next < before) {
            if sweep.count > COUNT_LIMIT {
                sweep.jump(schedule, before);
                break;
            }
            sweep.last_but_one = Some(sweep.last);
            sweep.last = next;
            sweep.count += 1;
            sweep.next = schedule.instant_after(next);
        }
        sweep
    }

    /// Finds the end of the range without visiting the instants between.
    fn jump(&mut self, schedule: &Schedule, before: Millis) {
        let from = self.last;
        self.last = latest_before(schedule, from, before);
        self.last_but_one = Some(latest_before(schedule, from, self.last));
        self.next = schedule.instant_after(self.last);
    }

    pub fn all(&self, reason: SkipReason) -> Skipped {
        Skipped { from_at: self.first, to_at: self.last, count: self.count.min(COUNT_LIMIT), reason }
    }

    pub fn but_last(&self, reason: SkipReason) -> Option<Skipped> {
        let to_at = self.last_but_one?;
        Some(Skipped { from_at: self.first, to_at, count: (self.count - 1).min(COUNT_LIMIT), reason })
    }
}

/// The first of the latest `count` instants before `before`, not earlier than `first`, which is an instant.
pub(super) fn first_of_latest(schedule: &Schedule, count: u32, first: Millis, before: Millis) -> Millis {
    let mut at = latest_before(schedule, first, before);
    // The guess for the next distance is the previous distance.
    let mut distance = 1_000;
    for _ in 1..count {
        if at == first {
            break;
        }
        let previous = previous(schedule, first, at, distance);
        distance = at - previous;
        at = previous;
    }
    at
}

/// The latest instant before `at`, not earlier than `first`; `distance` is a guess.
fn previous(schedule: &Schedule, first: Millis, at: Millis, mut distance: i64) -> Millis {
    loop {
        let from = at.saturating_sub(distance);
        if from <= first {
            return latest_before(schedule, first, at);
        }
        match schedule.instant_after(from - 1) {
            Some(found) if found < at => return latest_before(schedule, found, at),
            _ => distance = distance.saturating_mul(2),
        }
    }
}

/// The latest instant before `before`, by bisection; `from` is an instant before it. This is correct because "the instant
/// after t" never decreases when t increases.
fn latest_before(schedule: &Schedule, from: Millis, before: Millis) -> Millis {
    let after = |t| schedule.instant_after(t).filter(|&next| next < before);
    let (mut instant, mut none_after) = (from, before);
    while let Some(next) = after(instant) {
        instant = next;
        let middle = instant + (none_after - instant) / 2;
        match after(middle) {
            Some(next) => instant = next,
            None => none_after = middle,
        }
    }
    instant
}
