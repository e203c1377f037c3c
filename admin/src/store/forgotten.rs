//! Open runs that nobody would ever find: in a shard that is not the one of their job, or waiting for nothing. Nothing
//! writes such rows; if they are there, somebody should hear of it.

use carillon_scheduler::{Millis, shard_of};

use super::{Result, Store};

const MOST: i64 = 500;

impl Store {
    /// Moves open runs of this shard that belong elsewhere; the node that looks after shard 0 looks beyond the last one
    /// as well. Answers how many there were.
    pub async fn put_back_misplaced(&self, shard: i32, shards: i32) -> Result<usize> {
        let mut found = vec![];
        let own = "SELECT id, job_id FROM run WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND job_id % ? <> ? LIMIT ?";
        let values = vec![shard.into(), shards.into(), shard.into(), MOST.into()];
        found.extend(self.all(self.hot_reads(), own, values).await?);
        if shard == 0 {
            let beyond = "SELECT id, job_id FROM run WHERE shard >= ? AND state IN (0, 1, 2) AND state < 9 LIMIT ?";
            let values = vec![shards.into(), MOST.into()];
            found.extend(self.all(self.hot_reads(), beyond, values).await?);
        }
        for row in &found {
            let (id, job_id): (i64, i64) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
            let right = shard_of(job_id, shards);
            // Never an epoch above the new shard's; and not if the number of shards was changed meanwhile.
            let text = "UPDATE run SET shard = ?, epoch = 0 WHERE id = ? AND shard <> ? AND state IN (0, 1, 2) \
                        AND EXISTS (SELECT 1 FROM setting WHERE name = 'shards' AND value = ?)";
            let values = vec![
                right.into(),
                id.into(),
                right.into(),
                shards.to_string().into(),
            ];
            self.execute(&self.write, text, values).await?;
        }
        Ok(found.len())
    }

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
