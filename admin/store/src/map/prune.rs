//! The items of runs that go.

use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::views::MapStore;

const TABLES: [&str; 4] = ["map_item", "map_delivery", "map_page", "map_run"];

impl MapStore<'_> {
    /// Deletes what belongs to runs that go in this transaction.
    pub(crate) async fn prune(self, tx: &Transaction, run_ids: &[i64]) -> Result<()> {
        let text = "SELECT run_id FROM map_run WHERE run_id IN ({ids})";
        let maps: Vec<i64> = self.tuples(tx, text, values![self.ids(run_ids)]).await?;
        if !maps.is_empty() {
            for table in TABLES {
                self.delete_by_id(tx, table, "run_id", &maps).await?;
            }
        }
        Ok(())
    }

    /// Deletes what belongs to runs that are gone; answers how many.
    pub(crate) async fn prune_orphans(self) -> Result<u64> {
        let text = "SELECT run_id FROM map_run WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = map_run.run_id)";
        let gone: Vec<i64> = self.tuples(&self.engine_reads, text, vec![]).await?;
        let mut done = 0;
        if !gone.is_empty() {
            let tx = self.begin().await?;
            for table in TABLES {
                done += self.delete_by_id(&tx, table, "run_id", &gone).await?;
            }
            tx.commit().await?;
        }
        Ok(done)
    }
}
