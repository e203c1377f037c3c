//! Passing over instants without visiting each.

use super::{COUNT_LIMIT, SkipReason, Skipped};
use crate::Millis;
use crate::schedule::Schedule;

/// The instants of a range that ends before some moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swept {
    first: Millis,
    /// The one before the last, if there is more than one.
    last_but_one: Option<Millis>,
    pub last: Millis,
    /// Exact up to the limit; one above it means more.
    count: u32,
    /// The first instant after the range.
    pub next: Option<Millis>,
}

impl Swept {
    /// Counts from `first`, an instant, while instants lie before `before`; past the limit it jumps.
    pub fn new(schedule: &Schedule, first: Millis, before: Millis) -> Self {
        let mut swept = Self { first, last_but_one: None, last: first, count: 1, next: schedule.instant_after(first) };
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

    pub fn all(&self, reason: SkipReason) -> Skipped {
        Skipped { from_at: self.first, to_at: self.last, count: self.count.min(COUNT_LIMIT), reason }
    }

    pub fn but_last(&self, reason: SkipReason) -> Option<Skipped> {
        let to_at = self.last_but_one?;
        Some(Skipped { from_at: self.first, to_at, count: (self.count - 1).min(COUNT_LIMIT), reason })
    }
}

/// The first of the latest `count` instants before `before`; `first` is the earliest instant that may be meant.
pub(super) fn latest(schedule: &Schedule, count: u32, first: Millis, before: Millis) -> Millis {
    let mut at = latest_before(schedule, first, before);
    // Where the instant before may lie: as far off as the one before was.
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

/// The latest instant before another one, `first` at the earliest; `distance` is a guess.
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

/// The latest instant before `before`, by bisection; `from` is an instant before it. Sound because the instant after
/// a moment never lies before the instant after an earlier moment.
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
