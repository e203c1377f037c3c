//! The triggers of a job that is deleted. There may be a million of them, so they go in slices, after the deletion; one whose time comes
//! before becomes nothing.

use std::time::Duration;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::error::Result;
use crate::views::DelayedStore;

/// Triggers that one transaction deletes.
const SLICE: i64 = 1_000;
/// Full slices that the request which deletes jobs waits for.
const MOST_SLICES: usize = 5;
/// As far as the triggers of a job are counted.
pub const MOST_COUNTED: i64 = 10_000;
/// Between two slices that no request waits for.
const PACE: Duration = Duration::from_millis(10);

impl DelayedStore<'_> {
    /// How many triggers of a job wait, at most [`MOST_COUNTED`].
    pub async fn count_of(self, job_id: i64) -> Result<i64> {
        let text = "SELECT COUNT(*) FROM (SELECT id FROM delayed_trigger WHERE job_id = ? LIMIT ?) AS counted";
        Ok(self.tuple(&self.read, text, values![job_id, MOST_COUNTED]).await?.unwrap_or(0))
    }

    /// Deletes triggers with what they were given.
    pub(crate) async fn discard_in(self, tx: &Transaction, ids: &[i64]) -> Result<()> {
        if !ids.is_empty() {
            self.delete_by_id(tx, "run_input", "run_id", ids).await?;
            self.delete_by_id(tx, "delayed_trigger", "id", ids).await?;
        }
        Ok(())
    }

    /// Deletes the first triggers of jobs that have just been deleted. What is left, also if the database fails now, goes with the next
    /// look for orphans.
    pub(crate) async fn discard_some_of(self, job_ids: &[i64]) {
        let mut slices = MOST_SLICES;
        for job_id in job_ids {
            loop {
                match self.discard_slice(*job_id).await {
                    Ok(true) if slices > 0 => slices -= 1,
                    Ok(_) => break,
                    Err(error) => {
                        tracing::warn!(job.id = job_id, %error, "delayed triggers of a deleted job are deleted later");
                        return;
                    }
                }
            }
        }
    }

    /// Deletes a slice of the triggers of a job that is gone. False: none is left.
    pub async fn discard_slice(self, job_id: i64) -> Result<bool> {
        let text = "SELECT id FROM delayed_trigger WHERE job_id = ? ORDER BY job_id, due_at, id LIMIT ?";
        let ids: Vec<i64> = self.tuples(&self.write, text, values![job_id, SLICE]).await?;
        if ids.is_empty() {
            return Ok(false);
        }
        retry::on_conflict(async || {
            let tx = self.begin().await?;
            self.discard_in(&tx, &ids).await?;
            Ok(tx.commit().await?)
        })
        .await?;
        Ok(ids.len() as i64 == SLICE)
    }

    /// Deletes the triggers of all jobs that are gone; answers of how many jobs. One walk over the index of the triggers by job.
    pub async fn discard_orphans(self) -> Result<u64> {
        let (mut done, mut behind) = (0, 0);
        loop {
            let text = "SELECT d.job_id FROM delayed_trigger AS d WHERE d.job_id > ? AND NOT EXISTS \
                        (SELECT 1 FROM job WHERE job.id = d.job_id) ORDER BY d.job_id LIMIT 1";
            let Some(job_id) = self.tuple::<i64>(&self.engine_reads, text, values![behind]).await? else {
                return Ok(done);
            };
            behind = job_id;
            while self.discard_slice(job_id).await? {
                tokio::time::sleep(PACE).await;
            }
            done += 1;
        }
    }
}
