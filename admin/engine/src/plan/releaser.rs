//! Delayed triggers that are near → claimed runs → due queue: the second source of a scan. What waits for later is not read.

use carillon_scheduler::{Millis, RunState};

use crate::plan::adopt::AdoptOrigin;
use crate::plan::scanner::{PAGE, ScanReport, Scanner};
use carillon_store as store;
use carillon_store::run::claim::HeldLease;

/// What became of a page of triggers.
pub(crate) struct ReleasedPage {
    /// Triggers that are runs now.
    pub(crate) done: usize,
    /// There may be more of them near.
    pub(crate) is_full: bool,
}

impl Scanner {
    /// Releases the earliest triggers that are due between these moments, as many as there is room for.
    pub(crate) async fn release_page(
        &self,
        holder: &HeldLease<'_>,
        (from, near): (Millis, Millis),
        report: &mut ScanReport,
    ) -> store::Result<ReleasedPage> {
        let most = PAGE.min(self.batch.runs()).min(self.queue.free());
        let due = match most {
            0 => vec![],
            most => self.cx.store.delayed().due(self.shard, from, near, most).await?,
        };
        let is_full = due.len() == most;
        if due.is_empty() {
            return Ok(ReleasedPage { done: 0, is_full });
        }
        let released = self.within_lease(holder, |now| self.cx.store.delayed().release(holder, &due, now)).await?;
        let count = released.runs.len();
        self.cx.metrics.claimed.inc_by(count as u64);
        self.cx.metrics.settled.with_label_values(&[RunState::Cancelled.as_str()]).inc_by(released.expired);
        report.released += count;
        // A run may be bound to an address, so the rows are read.
        self.enqueue_adopted(holder, released.runs, near, AdoptOrigin::ThisHolder).await?;
        Ok(ReleasedPage { done: count + released.expired as usize, is_full })
    }
}
