//! Delayed triggers that are near → claimed runs → due queue: the second source of a scan. What waits for later is not read.

use std::time::Duration;

use carillon_scheduler::{Millis, RunState};

use crate::plan::adopt::AdoptOrigin;
use crate::plan::scanner::{PAGE, ScanReport, Scanner};
use carillon_store as store;
use carillon_store::run::claim::HeldLease;
use carillon_store::run::trigger::delayed::release::{DueTrigger, Released};

/// How long it is waited for sessions that hold jobs of triggers, before each further try.
const HELD_UP_MS: [u64; 3] = [10, 30, 100];

/// How far a round has come with the triggers.
pub(crate) struct TriggerPages {
    /// Those that are due before are released, or left to the next round.
    from: Millis,
    /// Apps that are paused; None: all of them. Their triggers wait where they are: as runs they would fill the queue, and the schedules
    /// of the other apps would find no room.
    paused: Option<Vec<i64>>,
    /// The last page was not full, or none follows in this round.
    is_done: bool,
    /// Another session holds the jobs of some: the next round looks for them again.
    is_held_up: bool,
    /// Why the rest is left to the next round.
    failed: Option<store::Error>,
}

impl TriggerPages {
    pub(crate) fn new(from: Millis, paused: Option<Vec<i64>>) -> Self {
        Self { from, paused, is_done: false, is_held_up: false, failed: None }
    }

    /// The apps whose triggers it has left out.
    pub(crate) fn into_paused(self) -> Option<Vec<i64>> {
        self.paused
    }

    /// Some that are near are not released yet.
    pub(crate) fn is_some_left(&self) -> bool {
        !self.is_done || self.is_held_up || self.failed.is_some()
    }

    /// What a round answers that has left something.
    pub(crate) fn finish(self) -> store::Result<bool> {
        self.failed.map_or(Ok(false), Err)
    }
}

impl Scanner {
    /// The triggers from this moment on, or all of them if others may be released than in the last round.
    pub(crate) fn trigger_pages(&self, from: Millis, now: Millis) -> TriggerPages {
        let paused = self.pauses.paused_apps(now);
        let from = if *self.paused.lock() == paused { from } else { Millis::MIN };
        TriggerPages::new(from, paused)
    }

    /// Releases the earliest triggers that are due by `near`, as many as there is room for. True: the next page is another one.
    ///
    /// A failure does not end the round: schedules do not wait for triggers.
    ///
    /// # Errors
    /// `Fenced`: nothing else can be written either.
    pub(crate) async fn release_page(
        &self,
        holder: &HeldLease<'_>,
        near: Millis,
        pages: &mut TriggerPages,
        report: &mut ScanReport,
    ) -> store::Result<bool> {
        if pages.is_done {
            return Ok(false);
        }
        match self.try_release_page(holder, near, pages, report).await {
            Err(error) if !matches!(error, store::Error::Fenced(_)) => {
                (pages.failed, pages.is_done) = (Some(error), true);
                Ok(false)
            }
            other => other,
        }
    }

    async fn try_release_page(
        &self,
        holder: &HeldLease<'_>,
        near: Millis,
        pages: &mut TriggerPages,
        report: &mut ScanReport,
    ) -> store::Result<bool> {
        let Some(paused) = &pages.paused else {
            pages.is_done = true;
            return Ok(false);
        };
        // Half of the queue stays free of them, however many wait for executors: the fires of schedules find room.
        let room = self.queue.free().saturating_sub(self.queue.capacity / 2);
        let most = PAGE.min(self.batch.runs()).min(room);
        if most == 0 {
            return Ok(false);
        }
        let due = self.cx.store.delayed().due_except(self.shard, (pages.from, near), paused, most).await?;
        pages.is_done = due.len() < most;
        let Some(last) = due.last() else { return Ok(false) };
        let last = last.due_at;
        let mut released = self.release(holder, &due, near, report).await?;
        let mut has_moved = released.held_up.len() < due.len();
        // Most hold a job for a moment: a request for a run of it does.
        for pause in HELD_UP_MS {
            if released.held_up.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let due = released.held_up;
            released = self.release(holder, &due, near, report).await?;
            has_moved |= released.held_up.len() < due.len();
        }
        if !released.held_up.is_empty() {
            // The page would begin with the same ones. Others at the moment of the last one wait for the next round with them.
            (pages.from, pages.is_held_up) = (if has_moved { last } else { last + 1 }, true);
            has_moved = true;
        }
        Ok(has_moved)
    }

    /// Answers what became of them; those that are runs now are in the queue.
    async fn release(
        &self,
        holder: &HeldLease<'_>,
        due: &[DueTrigger],
        near: Millis,
        report: &mut ScanReport,
    ) -> store::Result<Released> {
        let mut released = self.within_lease(holder, |now| self.cx.store.delayed().release(holder, due, now)).await?;
        let runs = std::mem::take(&mut released.runs);
        self.cx.metrics.claimed.inc_by(runs.len() as u64);
        self.cx.metrics.settled.with_label_values(&[RunState::Cancelled.as_str()]).inc_by(released.expired);
        report.released += runs.len();
        // A run may be bound to an address, so the rows are read.
        self.enqueue_adopted(holder, runs, near, AdoptOrigin::ThisHolder).await?;
        Ok(released)
    }
}
