//! The sets of executors among which runs were routed: each is kept once for all runs that have the same, and deleted
//! when no run names it any more.

use carillon_scheduler::Millis;

use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::{IDS, long, text};
use crate::db::sql::retry;
use crate::error::Result;
use crate::views::RunStore;

/// Sets of one statement: each may have as many addresses as its app has executors.
const SETS: usize = 100;

pub(crate) static RENEW: Bulk = Bulk::update(
    IDS,
    Update {
        table: "candidate_set",
        index: "PRIMARY",
        on: "candidate_set.id = u.id",
        set: &[("used_at", ":now")],
        only_if: "",
    },
);

pub(crate) static INSERT: Bulk = Bulk::text(
    &[long("id"), text("addresses", "MEDIUMTEXT")],
    "INSERT INTO candidate_set (id, addresses, used_at) SELECT u.id, u.addresses, :now FROM {list} \
     WHERE NOT EXISTS (SELECT 1 FROM candidate_set AS kept WHERE kept.id = u.id)",
);

impl RunStore<'_> {
    /// Keeps these sets of addresses under their ids; of those that are there already only the time of use changes.
    pub async fn persist_candidates(self, sets: &[(i64, String)], now: Millis) -> Result<()> {
        let mut sets = sets.to_vec();
        sets.sort_unstable();
        let values = named![now];
        for page in sets.chunks(SETS) {
            let ids: Vec<i64> = page.iter().map(|(id, _)| *id).collect();
            // In this order: a set that was renewed is not deleted, and one that was deleted before is inserted again.
            retry::on_race(|| self.bulk(&self.write, &RENEW, &values, &ids)).await?;
            // Another node may write some of them meanwhile: the next attempt finds those there.
            retry::on_race(|| self.bulk(&self.write, &INSERT, &values, page)).await?;
        }
        Ok(())
    }

    /// The addresses of a set.
    pub(crate) async fn candidates(self, id: i64) -> Result<Vec<String>> {
        let text = "SELECT addresses FROM candidate_set WHERE id = ?";
        let list: Option<String> = self.tuple(&self.read, text, values![id]).await?;
        Ok(list.and_then(|list| serde_json::from_str(&list).ok()).unwrap_or_default())
    }

    /// Sets above this id that were not used since then, in the order of their ids.
    pub async fn idle_candidate_sets(self, id: i64, before: Millis, limit: usize) -> Result<Vec<i64>> {
        let text = "SELECT id FROM candidate_set WHERE id > ? AND used_at < ? ORDER BY id LIMIT ?";
        self.tuples(&self.engine_reads, text, values![id, before, limit as i64]).await
    }

    /// The sets that runs with a greater id name.
    pub async fn candidate_sets_named_above(self, run_id: i64) -> Result<Vec<i64>> {
        let text = "SELECT DISTINCT candidates_id FROM run WHERE id > ? AND candidates_id IS NOT NULL";
        self.tuples(&self.engine_reads, text, values![run_id]).await
    }

    /// Deletes those of these sets that were not used since then; answers how many. No run may name them.
    pub async fn delete_candidate_sets(self, ids: &[i64], before: Millis) -> Result<u64> {
        let mut done = 0;
        for page in ids.chunks(SETS) {
            let marks = vec!["?"; page.len()].join(",");
            let text = format!("DELETE FROM candidate_set WHERE id IN ({marks}) AND used_at < ?");
            let values = page.iter().chain([&before]).map(|value| (*value).into()).collect();
            done += self.execute(&self.write, &text, values).await?;
            tokio::task::yield_now().await;
        }
        Ok(done)
    }
}
