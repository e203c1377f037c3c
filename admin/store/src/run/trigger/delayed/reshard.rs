//! Before the number of shards changes: triggers that are due much later go to their new shards in slices, so that the change itself,
//! during which nothing is claimed, has few of them left.

use std::time::Duration;

use carillon_scheduler::Millis;

use crate::db::sql::retry;
use crate::error::Result;
use crate::views::DelayedStore;

/// Triggers that one statement moves.
const SLICE: i64 = 2_000;
/// What is due earlier is left to the change: no holder may look for it in the meantime.
const FAR: Millis = 3_600_000;
/// Between two slices.
const PACE: Duration = Duration::from_millis(10);

impl DelayedStore<'_> {
    /// Answers how many it has moved. If the change does not follow, those in a shard that does not exist are put right by
    /// [`repair_misplaced`](crate::views::RunStore::repair_misplaced); those in the shard of another job become runs there, which are put
    /// right as well.
    pub(crate) async fn move_far_ones(self, shards: i32, now: Millis) -> Result<u64> {
        let (mut moved, mut behind) = (0, 0);
        loop {
            let text = format!(
                "SELECT id FROM delayed_trigger WHERE id > ? AND due_at > ? AND shard <> job_id % {shards} ORDER BY id LIMIT ?"
            );
            let ids: Vec<i64> = self.tuples(&self.engine_reads, &text, values![behind, now + FAR, SLICE]).await?;
            let Some(last) = ids.last() else { return Ok(moved) };
            behind = *last;
            let text = format!("UPDATE delayed_trigger SET shard = job_id % {shards} WHERE id IN ({{ids}})");
            moved +=
                retry::on_conflict(async || self.execute(&self.write, &text, values![self.ids(&ids)]).await).await?;
            tokio::time::sleep(PACE).await;
        }
    }
}
