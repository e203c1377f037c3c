//! Sets of executors that no run names any more. A run names its set without an index, because each mark would pay for one:
//! the walk over all runs notes which sets it meets, and those that were idle before it began and that it did not meet go.
//!
//! A node renews a set that it uses once a day, so a set that was idle for two days is named by no mark of now, and a set that comes
//! into use again during the walk is not idle any more when it ends. Runs above those of the walk are asked for their sets at the begin.

use foldhash::HashSet;

use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::Store;
use carillon_store::retention::prune_runs::PrunableRun;

use crate::maintain::retention_filter::DAY;

/// Longer than the time after which a set is renewed, and a mark takes.
const IDLE: Millis = 2 * DAY;
/// Sets that one walk looks for: they are in memory meanwhile.
const MOST: usize = 10_000;

#[derive(Default)]
pub struct IdleSets {
    /// Those that no run of this walk has named so far.
    unnamed: HashSet<i64>,
    before: Millis,
    /// The sets up to this id were looked for by earlier walks; and where this one ends.
    passed: i64,
    last: i64,
}

impl IdleSets {
    /// The walk will go over the runs up to this id.
    pub async fn begin(&mut self, store: &Store, now: Millis, run_id: i64) -> store::Result<()> {
        self.before = now - IDLE;
        let found = store.runs().idle_candidate_sets(self.passed, self.before, MOST).await?;
        self.last = found.last().copied().filter(|_| found.len() == MOST).unwrap_or(0);
        self.unnamed = found.into_iter().collect();
        if !self.unnamed.is_empty() {
            for id in store.runs().candidate_sets_named_above(run_id).await? {
                self.unnamed.remove(&id);
            }
        }
        Ok(())
    }

    /// A page of the walk.
    pub fn keep_named(&mut self, page: &[PrunableRun]) {
        for id in page.iter().filter_map(|run| run.candidates_id) {
            self.unnamed.remove(&id);
        }
    }

    /// The walk has come to its end.
    pub async fn end(&mut self, store: &Store) -> store::Result<()> {
        self.passed = self.last;
        if self.unnamed.is_empty() {
            return Ok(());
        }
        let ids: Vec<i64> = self.unnamed.drain().collect();
        let deleted = store.runs().delete_candidate_sets(&ids, self.before).await?;
        if deleted > 0 {
            tracing::info!(set.count = deleted, "sets of executors that no run names any more are deleted");
        }
        Ok(())
    }
}
