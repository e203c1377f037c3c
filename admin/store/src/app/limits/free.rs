//! Slots become free with the end of their run, or when its mark is taken back: in that transaction.

use sea_orm::ConnectionTrait;

use crate::error::Result;
use crate::views::LimitStore;

impl LimitStore<'_> {
    /// Frees the slots of runs that are at work no more.
    pub(crate) async fn free(self, db: &impl ConnectionTrait, run_ids: &[i64]) -> Result<()> {
        if !run_ids.is_empty() {
            self.delete_by_id(db, "limit_slot", "run_id", run_ids).await?;
        }
        Ok(())
    }

    /// The same of those of these runs that are `claimed` by now; answers how many there are. A run that has another mark keeps its slots.
    pub(crate) async fn free_unmarked(self, db: &impl ConnectionTrait, run_ids: &[i64]) -> Result<usize> {
        if run_ids.is_empty() {
            return Ok(0);
        }
        let text = "SELECT id FROM run WHERE id IN ({ids}) AND {+run.state} = {state.claimed}";
        let claimed: Vec<i64> = self.tuples(db, text, values![self.ids(run_ids)]).await?;
        self.free(db, &claimed).await?;
        Ok(claimed.len())
    }
}
