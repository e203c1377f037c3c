//! Which shards have something to do: one statement for all that a node holds, instead of several for each of them.

use carillon_scheduler::Millis;

use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{ListColumn, SHARDS, int, long};
use crate::error::Result;
use crate::views::RunStore;

/// The first cursor, the first new run that has no holder yet, or the first delayed trigger. By their order and not by EXISTS: MariaDB reads a range in a
/// subquery from the beginning of its shard to the end.
pub(crate) static TO_SCAN: Bulk = Bulk::text(
    SHARDS,
    "SELECT u.shard FROM {list} WHERE (SELECT c.next_fire_at FROM job_clock AS c{index PRIMARY} WHERE c.shard = u.shard \
     AND c.next_fire_at >= :from ORDER BY c.shard, c.next_fire_at LIMIT 1) <= :near \
     OR (SELECT run.due_at FROM run{index run_open} WHERE run.shard = u.shard AND run.state = {state.claimed} AND run.state < {state.final} \
     AND run.epoch = 0 AND run.due_at >= :from ORDER BY run.due_at LIMIT 1) <= :until \
     OR (SELECT d.due_at FROM delayed_trigger AS d{index PRIMARY} WHERE d.shard = u.shard AND d.due_at >= :from \
     ORDER BY d.shard, d.due_at LIMIT 1) <= :near",
);

const HELD: &[ListColumn] = &[int("shard"), long("epoch"), long("from_at")];

/// A run that was due and waits, and that may be flagged.
pub(crate) static OVERDUE: Bulk = Bulk::text(
    HELD,
    "SELECT u.shard FROM {list} WHERE (SELECT run.due_at FROM run{index run_open} WHERE run.shard = u.shard AND run.state = {state.claimed} AND run.state < {state.final} \
     AND run.epoch = u.epoch AND run.due_at >= u.from_at AND run.flagged_at IS NULL AND (run.reason IS NULL OR run.reason <> {reason.overlap}) \
     ORDER BY run.due_at LIMIT 1) <= :now",
);

impl RunStore<'_> {
    /// The shards that have a cursor or a delayed trigger between `from` and `near`, or a new run that is due between `from` and `until`.
    pub async fn shards_to_scan(self, shards: &[i32], from: Millis, near: Millis, until: Millis) -> Result<Vec<i32>> {
        let shards: Vec<i64> = shards.iter().map(|shard| i64::from(*shard)).collect();
        let values = named![from, near, until];
        let found: Vec<i64> = self.bulk_tuples(&self.engine_reads, &TO_SCAN, &values, &shards).await?;
        Ok(found.into_iter().filter_map(|shard| i32::try_from(shard).ok()).collect())
    }

    /// The shards, each with its epoch, that have a run which was due between the given moment and `now`, waits and is
    /// not flagged.
    pub async fn shards_with_overdue(self, held: &[(i32, i64, Millis)], now: Millis) -> Result<Vec<i32>> {
        self.bulk_tuples(&self.engine_reads, &OVERDUE, &named![now], held).await
    }
}
