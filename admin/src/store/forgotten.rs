//! Open runs that wait for nothing. Nothing leaves such rows; if they are there, somebody should hear of it.

use carillon_scheduler::Millis;

use super::{Result, Store};

impl Store {
    /// How many runs of a shard have waited since before `due_before` though nothing holds them back, and the first of
    /// them. Runs that wait for an earlier one of their job have no limit.
    pub async fn overdue(&self, shard: i32, due_before: Millis) -> Result<Option<(i64, i64)>> {
        let text = "SELECT MIN(id), COUNT(*) FROM run WHERE shard = ? AND state = 0 AND state < 9 AND due_at < ? \
                    AND (reason IS NULL OR reason <> 'overlap')";
        let values = vec![shard.into(), due_before.into()];
        let Some(row) = self.one(self.hot_reads(), text, values).await? else {
            return Ok(None);
        };
        let first: Option<i64> = row.try_get_by_index(0)?;
        let count = row.try_get_by_index(1)?;
        Ok(first.map(|first| (first, count)))
    }
}
