//! The audit of the slots: one whose run is gone or not at work is freed. Only a defect, an older version or a change by hand leaves one.

use crate::db::sql::retry;
use crate::error::Result;
use crate::run::lock::{LockMode, LockedRun};
use crate::views::LimitStore;
use carillon_scheduler::RunState;

/// Slots of one round.
const ROUND: i64 = 1_000;

/// In one statement, so slot and run are of one moment.
pub(crate) const STALE_SLOTS: &str = "SELECT DISTINCT s.run_id FROM limit_slot AS s LEFT JOIN run ON run.id = s.run_id \
     WHERE run.id IS NULL OR run.state NOT IN ({state.sending}, {state.running}) OR (run.follow & {follow.held}) <> 0 LIMIT ?";

/// A slot that was freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleSlot {
    pub run_id: i64,
    /// Of the first of its limits; None: the limit is gone too.
    pub limit: Option<String>,
    /// None: the run is gone.
    pub state: Option<RunState>,
}

impl LimitStore<'_> {
    /// Frees the slots of runs that are not at work, and answers which they were.
    pub async fn free_stale(self) -> Result<Vec<StaleSlot>> {
        let mut run_ids: Vec<i64> = self.tuples(&self.engine_reads, STALE_SLOTS, values![ROUND]).await?;
        if run_ids.is_empty() {
            return Ok(vec![]);
        }
        run_ids.sort_unstable();
        retry::on_conflict(|| self.try_free_stale(&run_ids)).await
    }

    /// Looked at again under the lock of the run: it may have been marked again since.
    async fn try_free_stale(self, run_ids: &[i64]) -> Result<Vec<StaleSlot>> {
        let tx = self.begin().await?;
        let runs = self.runs().lock_runs(&tx, run_ids, LockMode::SkipLocked).await?;
        let is_at_work = |run: &LockedRun| matches!(run.state, RunState::Sending | RunState::Running) && !run.is_held();
        let is_stale = |id: &&i64| {
            let is_known = !runs.held_up.contains(id) && !runs.unreadable.contains(id);
            is_known && !runs.by_id.get(id).is_some_and(is_at_work)
        };
        let stale: Vec<i64> = run_ids.iter().filter(is_stale).copied().collect();
        let text = "SELECT s.run_id, MIN(limit_rule.name) FROM limit_slot AS s LEFT JOIN limit_rule ON limit_rule.id = s.limit_id \
                    WHERE s.run_id IN ({ids}) GROUP BY s.run_id";
        let found: Vec<(i64, Option<String>)> = self.tuples(&tx, text, values![self.ids(&stale)]).await?;
        self.free(&tx, &stale).await?;
        tx.commit().await?;
        let freed = found.into_iter().map(|(run_id, limit)| {
            let state = runs.by_id.get(&run_id).map(|run| run.state);
            StaleSlot { run_id, limit, state }
        });
        Ok(freed.collect())
    }
}
