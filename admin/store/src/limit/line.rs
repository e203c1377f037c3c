//! Who has slots, and who waits for them.

use carillon_scheduler::{Millis, RunReason};

use crate::db::sql::retry;
use crate::error::Result;
use crate::run::open::overlapping::NOTE_OVERLAP;
use crate::views::LimitStore;

impl LimitStore<'_> {
    /// Says in the rows of runs that are still `claimed` that they wait for a slot.
    pub async fn note_waiting(self, run_ids: &[i64]) -> Result<()> {
        let mut run_ids = run_ids.to_vec();
        run_ids.sort_unstable();
        let values = named![reason: RunReason::Limit.as_str()];
        retry::on_conflict(|| self.bulk(&self.write, &NOTE_OVERLAP, &values, &run_ids)).await.map(drop)
    }

    /// The runs that have slots of a limit, with the moments at which they got them, earliest first.
    pub async fn holders(self, limit_id: i64, limit: u32) -> Result<Vec<(i64, Millis)>> {
        let text = "SELECT run_id, taken_at FROM limit_slot WHERE limit_id = ? ORDER BY taken_at, run_id LIMIT ?";
        self.tuples(&self.read, text, values![limit_id, i64::from(limit)]).await
    }
}
