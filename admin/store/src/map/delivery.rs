//! Deliveries: what each of them carries, and new ones.

use carillon_scheduler::Millis;
use carillon_scheduler::run::map::{self as rules, DELIVERY_BYTES, ItemState};

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{int, long};
use crate::error::Result;
use crate::map::rows::MapRow;
use crate::views::MapStore;

/// What a run with the cause `item` is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemInput {
    /// Number and text of the items of a delivery that have not succeeded.
    Delivery(Vec<(i32, String)>),
    /// All items have their outcomes: how many there are, and how many have failed.
    Reduction { items: i32, failed: i32 },
}

/// Runs of the job of the root, in the place where it is.
pub(crate) static NEW_ITEM_RUNS: Bulk = Bulk::text(
    &[long("id"), int("part")],
    "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) \
     SELECT u.id, root.job_id, root.app_id, root.shard, {cause.item}, root.id, u.part, 1, 1, root.scheduled_at, :now, {state.claimed}, 0, 0, \
     {follow.item} FROM {list} {join} run AS root{index PRIMARY} ON root.id = :root",
);

impl MapStore<'_> {
    /// What a run of this root is given now, by its part.
    pub async fn input(self, root_id: i64, part: i32) -> Result<ItemInput> {
        if part == 0 {
            let map = self.map_row(&self.engine_reads, root_id).await?;
            let (items, failed) = map.map_or((0, 0), |map| (map.items, map.failed));
            return Ok(ItemInput::Reduction { items, failed });
        }
        let text = "SELECT i.item, i.params FROM map_delivery AS d JOIN map_item AS i ON i.run_id = d.run_id AND i.item >= d.first_item \
                    AND i.item < d.first_item + d.items WHERE d.run_id = ? AND d.delivery = ? AND i.state <> ? ORDER BY i.item";
        let values = values![root_id, part, ItemState::Succeeded.code()];
        self.tuples(&self.engine_reads, text, values).await.map(ItemInput::Delivery)
    }

    /// Begins deliveries while there are ids for their runs. Answers how many.
    pub(crate) async fn release(
        self,
        tx: &Transaction,
        map: &mut MapRow,
        ids: &mut Vec<i64>,
        (executors, now): (i64, Millis),
    ) -> Result<usize> {
        let chunk = *map.chunk.get_or_insert_with(|| rules::chunk(i64::from(map.items), executors) as i32);
        let open = rules::window(executors) - i64::from(map.in_flight);
        let count = ids.len().min(open.max(0) as usize);
        if count == 0 || map.released == map.items {
            return Ok(0);
        }
        let most = i64::from(chunk) * count as i64;
        let text = "SELECT size FROM map_item WHERE run_id = ? AND item >= ? ORDER BY item LIMIT ?";
        let sizes: Vec<i32> = self.tuples(tx, text, values![map.run_id, map.released, most]).await?;
        let counts = cut_by_size(&sizes, chunk as usize, count);
        let (mut rows, mut runs) = (vec![], vec![]);
        for count in counts {
            let Some(id) = ids.pop() else { break };
            map.deliveries += 1;
            rows.push(values![map.run_id, map.deliveries, map.released, count as i32, false]);
            runs.push((id, map.deliveries));
            map.released += count as i32;
            map.in_flight += 1;
        }
        self.insert_rows(tx, "map_delivery", "run_id, delivery, first_item, items, ended", rows).await?;
        self.insert_item_runs(tx, map.run_id, &runs, now).await?;
        Ok(runs.len())
    }

    /// Runs of a root, by id and part.
    pub(crate) async fn insert_item_runs(
        self,
        tx: &Transaction,
        root: i64,
        runs: &[(i64, i32)],
        now: Millis,
    ) -> Result<()> {
        self.bulk(tx, &NEW_ITEM_RUNS, &named![root, now], runs).await.map(drop)
    }
}

/// How many items each delivery has: at most `chunk`, and as many as fit into its parameters.
fn cut_by_size(sizes: &[i32], chunk: usize, deliveries: usize) -> Vec<usize> {
    let mut counts = vec![];
    let (mut count, mut bytes) = (0, 0);
    for size in sizes.iter().map(|size| i64::from(*size)) {
        if count > 0 && (count == chunk || bytes + size > DELIVERY_BYTES) {
            counts.push(count);
            (count, bytes) = (0, 0);
        }
        count += 1;
        bytes += size;
    }
    if count > 0 {
        counts.push(count);
    }
    counts.truncate(deliveries);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_ends_at_its_chunk_or_at_its_bytes() {
        assert_eq!(cut_by_size(&[40; 7], 3, 9), [3, 3, 1]);
        assert_eq!(cut_by_size(&[40; 7], 3, 2), [3, 3]);
        assert_eq!(cut_by_size(&[30_000, 30_000, 2_000, 61_000, 1], 100, 9), [2, 1, 2]);
        assert_eq!(cut_by_size(&[], 3, 9), Vec::<usize>::new());
    }
}
