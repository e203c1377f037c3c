//! Open runs that wait for nothing. Nothing leaves such rows; if they are there, an alarm says so.

use carillon_scheduler::Millis;

use crate::error::Result;
use crate::store::Store;

impl Store {
    /// How many runs of a shard wait though at `before` the misfire threshold of their job was over, and the first of them.
    /// The threshold counts from `waited_since` for runs that were due earlier. Runs that wait for an earlier one of their
    /// job have no limit.
    pub async fn overdue(&self, shard: i32, before: Millis, waited_since: Millis) -> Result<Option<(i64, i64)>> {
        // The first comparison of `due_at` bounds the walk over the index.
        let text = "SELECT MIN(run.id), COUNT(*) FROM run LEFT JOIN job ON job.id = run.job_id \
                    WHERE run.shard = ? AND run.state = {state.claimed} AND run.state < {state.final} AND run.due_at < ? \
                    AND run.due_at + COALESCE(job.misfire_threshold_ms, 0) < ? AND COALESCE(job.misfire_threshold_ms, 0) < ? \
                    AND (run.reason IS NULL OR run.reason <> {reason.overlap})";
        let values = values![shard, before, before, before - waited_since];
        let found: Option<(Option<i64>, i64)> = self.tuple(&self.engine_reads, text, values).await?;
        Ok(found.and_then(|(first, count)| Some((first?, count))))
    }
}
