//! Failures in a row of jobs that are to be paused after some of them. Their runs have the mark of a parent's, so their successes
//! are settled one by one too, and end the row.

use std::collections::BTreeSet;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::template::delete_by_id;
use crate::error::Result;
use crate::views::RunStore;

impl RunStore<'_> {
    /// Counts fires that have failed after their retries: job and number of the fire. The jobs are locked, so no other session counts.
    /// A fire of several parts counts once, unless another fire has failed in between.
    pub(crate) async fn count_failures_in_a_row(self, tx: &Transaction, failed: &BTreeSet<(i64, i64)>) -> Result<()> {
        for (job_id, fire_no) in failed {
            let text = "UPDATE job_failure SET failures = failures + CASE WHEN fire_no = ? THEN 0 ELSE 1 END, fire_no = ? WHERE job_id = ?";
            if self.execute(tx, text, values![*fire_no, *fire_no, *job_id]).await? == 0 {
                let row = values![*job_id, 1, *fire_no];
                self.insert_rows(tx, "job_failure", "job_id, failures, fire_no", vec![row]).await?;
            }
        }
        Ok(())
    }

    /// A run of each of these jobs has succeeded.
    pub(crate) async fn forget_failures(self, tx: &Transaction, job_ids: &BTreeSet<i64>) -> Result<()> {
        if !job_ids.is_empty() {
            let ids: Vec<i64> = job_ids.iter().copied().collect();
            let text = delete_by_id(self.backend, "job_failure", "job_id");
            self.execute(tx, &text, values![self.ids(&ids)]).await?;
        }
        Ok(())
    }
}
