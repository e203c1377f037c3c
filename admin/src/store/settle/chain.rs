//! A fixed delay: its next instant is counted from the end of its last fire, so it hangs on a chain. Either its cursor
//! stands in `job_clock`, or a run that is marked as `chained` is on its way; whoever ends that run sets the cursor.

use crate::store::Transaction;
use carillon_scheduler::Millis;

use crate::store::job_create::{CLOCK, clock_row};
use crate::store::{Result, Store};

impl Store {
    /// A run of this fire has ended; if it was the last of it, the next instant is counted from `now`. Answers the shard
    /// that has a new cursor. The job's row must be locked.
    pub(super) async fn chain_on(
        &self,
        tx: &Transaction,
        job_id: i64,
        fire_no: i64,
        now: Millis,
    ) -> Result<Option<i32>> {
        let text = "SELECT COUNT(*) FROM run WHERE fire_no = ? AND job_id = ? AND cause = 0 AND state IN (0, 1, 2)";
        let row = self
            .one(tx, text, vec![fire_no.into(), job_id.into()])
            .await?;
        let open: Option<i64> = row.map(|row| row.try_get_by_index(0)).transpose()?;
        match open {
            Some(0) => self.set_delayed_cursor(tx, job_id, now).await,
            _ => Ok(None),
        }
    }

    /// The cursor of a fixed delay whose last run ended at `ended_at`, if the job is enabled, has none, and has fires left.
    async fn set_delayed_cursor(
        &self,
        tx: &Transaction,
        job_id: i64,
        ended_at: Millis,
    ) -> Result<Option<i32>> {
        let Some(mut job) = self.job_by(tx, job_id).await? else {
            return Ok(None);
        };
        if !job.draft.enabled || job.next_fire_at.is_some() || job.fires_left == Some(0) {
            return Ok(None);
        }
        // What cannot be parsed any more is found by an edit.
        job.next_fire_at = job
            .schedule()
            .ok()
            .and_then(|schedule| schedule.after_end(ended_at));
        let Some(clock) = clock_row(&job) else {
            return Ok(None);
        };
        self.insert_rows(tx, "job_clock", CLOCK, vec![clock])
            .await?;
        Ok(Some(job.shard))
    }

    /// A link of the job's chain is on its way: its end will set the cursor.
    pub(in crate::store) async fn has_open_link(
        &self,
        tx: &Transaction,
        shard: i32,
        job_id: i64,
    ) -> Result<bool> {
        let text = "SELECT COUNT(*) FROM run WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND job_id = ? AND chained = TRUE";
        let row = self
            .one(tx, text, vec![shard.into(), job_id.into()])
            .await?;
        let count: Option<i64> = row.map(|row| row.try_get_by_index(0)).transpose()?;
        Ok(count.is_some_and(|count| count > 0))
    }

    /// Jobs of a shard with a fixed delay whose chain has broken: enabled, fires left, no cursor, and no link on its way.
    pub async fn broken_chains(&self, shard: i32) -> Result<Vec<i64>> {
        let text = "SELECT job.id FROM job LEFT JOIN job_clock ON job_clock.shard = job.shard AND job_clock.job_id = job.id \
                    WHERE job.schedule_kind = 'fixed_delay' AND job.shard = ? AND job.enabled = TRUE \
                    AND (job.fires_left IS NULL OR job.fires_left > 0) AND job_clock.job_id IS NULL AND NOT EXISTS \
                    (SELECT 1 FROM run WHERE run.shard = job.shard AND run.state IN (0, 1, 2) AND run.state < 9 AND run.job_id = job.id \
                    AND run.chained = TRUE)";
        self.ids_of(self.hot_reads(), text, vec![shard.into()])
            .await
    }

    /// Begins a broken chain anew, if it still is broken. Answers whether it was.
    pub async fn mend_chain(&self, job_id: i64, now: Millis) -> Result<bool> {
        let tx = self.begin().await?;
        let text = format!("SELECT shard FROM job WHERE id = ?{}", self.for_update());
        let Some(row) = self.one(&tx, &text, vec![job_id.into()]).await? else {
            return Ok(false);
        };
        if self
            .has_open_link(&tx, row.try_get_by_index(0)?, job_id)
            .await?
        {
            return Ok(false);
        }
        let mended = self.set_delayed_cursor(&tx, job_id, now).await?;
        tx.commit().await?;
        Ok(mended.is_some())
    }
}
