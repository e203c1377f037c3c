//! A fixed delay: its next instant is counted from the end of its last fire, so it hangs on a chain. Either its cursor
//! stands in `job_clock`, or a run that is marked as `chained` is on its way; whoever ends that run sets the cursor.

use std::collections::HashSet;

use carillon_scheduler::Millis;

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::job::create::{CLOCK, clock_row};
use crate::job::stored_job::Job;
use crate::{Result, Store, Transaction};

/// Jobs that a round of the audit looks at in each shard.
const PAGE: usize = 500;

/// The cursor of a fixed delay by its job: a walk over the shard's cursors would cost each of its runs.
pub(crate) const DELAYED_CURSOR: &str =
    "SELECT next_fire_at FROM job_clock WHERE delayed_job = ? AND delayed_job IS NOT NULL";

/// A page of the jobs with a fixed delay, by id. PostgreSQL chooses by its statistics: `job_delayed` where they are few among
/// the jobs, the primary key where they are many.
pub(crate) const DELAYED_JOBS: Text = Text {
    sqlite: "SELECT id, enabled, fires_left FROM job INDEXED BY job_kind \
             WHERE schedule_kind = 'fixed_delay' AND shard = ? AND id > ? ORDER BY id LIMIT ?",
    postgres: "SELECT id, enabled, fires_left FROM job WHERE schedule_kind = 'fixed_delay' AND shard = ? AND id > ? \
               ORDER BY shard, id LIMIT ?",
    mysql: "SELECT id, enabled, fires_left FROM job FORCE INDEX (job_kind) \
            WHERE schedule_kind = 'fixed_delay' AND shard = ? AND id > ? ORDER BY id LIMIT ?",
};

/// Which of these jobs have a cursor.
pub(crate) const DELAYED_CURSORS: Text = Text {
    sqlite: "SELECT c.delayed_job FROM json_each(?) AS u CROSS JOIN job_clock AS c ON c.delayed_job = u.value AND c.delayed_job IS NOT NULL",
    postgres: "SELECT c.delayed_job FROM unnest(?::bigint[]) AS u(id) JOIN job_clock AS c ON c.delayed_job = u.id AND c.delayed_job IS NOT NULL",
    mysql: "SELECT c.delayed_job FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u \
            STRAIGHT_JOIN job_clock AS c FORCE INDEX (job_clock_delayed) ON c.delayed_job = u.id",
};

/// The jobs of a shard with a link on its way: one walk over its open runs.
pub(crate) const OPEN_LINKS: Text = Text {
    sqlite: "SELECT job_id FROM run WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND chained = TRUE",
    postgres: "SELECT job_id FROM run WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND chained = TRUE",
    mysql: "SELECT job_id FROM run FORCE INDEX (run_open) WHERE shard = ? AND state IN (0, 1, 2) AND chained = TRUE",
};

impl Store {
    /// A run of this fire has ended; if it was the last of it, the next instant is counted from `now`. Answers the shard
    /// that has a new cursor. The job's row must be locked.
    pub(crate) async fn chain_on(
        &self,
        tx: &Transaction,
        job_id: i64,
        fire_no: i64,
        now: Millis,
    ) -> Result<Option<i32>> {
        let text = "SELECT COUNT(*) FROM run WHERE fire_no = ? AND job_id = ? AND cause = 0 AND state IN (0, 1, 2)";
        let row = self.one(tx, text, vec![fire_no.into(), job_id.into()]).await?;
        let open: Option<i64> = row.map(|row| row.try_get_by_index(0)).transpose()?;
        match open {
            Some(0) => {
                let job = self.delayed_job(tx, job_id).await?;
                self.set_delayed_cursor(tx, job, now).await
            }
            _ => Ok(None),
        }
    }

    /// A job and the cursor of its fixed delay, found by keys alone.
    async fn delayed_job(&self, tx: &Transaction, job_id: i64) -> Result<Option<Job>> {
        let Some(mut job) = self.job_without_due_time(tx, job_id).await? else {
            return Ok(None);
        };
        let row = self.one(tx, DELAYED_CURSOR, vec![job_id.into()]).await?;
        job.next_fire_at = row.map(|row| row.try_get_by_index(0)).transpose()?;
        Ok(Some(job))
    }

    /// The cursor of a fixed delay whose last run ended at `ended_at`, if the job is enabled, has none, and has fires left.
    async fn set_delayed_cursor(&self, tx: &Transaction, job: Option<Job>, ended_at: Millis) -> Result<Option<i32>> {
        let Some(mut job) = job else {
            return Ok(None);
        };
        if !job.draft.enabled || job.next_fire_at.is_some() || job.fires_left == Some(0) {
            return Ok(None);
        }
        // What cannot be parsed any more is found by an edit.
        job.next_fire_at = job.schedule().ok().and_then(|schedule| schedule.after_end(ended_at));
        let Some(clock) = clock_row(&job) else {
            return Ok(None);
        };
        self.insert_rows(tx, "job_clock", CLOCK, vec![clock]).await?;
        Ok(Some(job.shard))
    }

    /// A link of the job's chain is on its way: its end will set the cursor.
    pub(crate) async fn has_open_link(&self, tx: &Transaction, shard: i32, job_id: i64) -> Result<bool> {
        let text = "SELECT COUNT(*) FROM run WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND job_id = ? AND chained = TRUE";
        let row = self.one(tx, text, vec![shard.into(), job_id.into()]).await?;
        let count: Option<i64> = row.map(|row| row.try_get_by_index(0)).transpose()?;
        Ok(count.is_some_and(|count| count > 0))
    }

    /// Jobs of a shard with a fixed delay whose chain has broken, of one page behind the job `after`; and the job behind
    /// which the next page begins (0: at the first).
    pub async fn broken_chains(&self, shard: i32, after: i64) -> Result<(Vec<i64>, i64)> {
        let text = DELAYED_JOBS.of(self.backend);
        let values = vec![shard.into(), after.into(), (PAGE as i64).into()];
        let rows = self.all(self.hot_reads(), text, values).await?;
        let (mut going, mut last) = (vec![], 0);
        for row in &rows {
            last = row.try_get_by_index(0)?;
            let fires_left: Option<i32> = row.try_get_by_index(2)?;
            if row.try_get_by_index(1)? && fires_left.is_none_or(|left| left > 0) {
                going.push(last);
            }
        }
        let next = if rows.len() < PAGE { 0 } else { last };
        let mut broken = vec![];
        for job_id in self.without_chain(shard, going).await? {
            if self.is_chain_broken(shard, job_id).await? {
                broken.push(job_id);
            }
        }
        Ok((broken, next))
    }

    /// Of these jobs those that seem to have neither a cursor nor a link on its way. A chain that went on between the reads
    /// is among them.
    async fn without_chain(&self, shard: i32, mut job_ids: Vec<i64>) -> Result<Vec<i64>> {
        if job_ids.is_empty() {
            return Ok(job_ids);
        }
        let (_, ids) = dialect::id_list(self.backend, &job_ids);
        let text = DELAYED_CURSORS.of(self.backend);
        let cursors = self.ids_of(self.hot_reads(), text, vec![ids]).await?;
        let cursors: HashSet<i64> = cursors.into_iter().collect();
        job_ids.retain(|id| !cursors.contains(id));
        if job_ids.is_empty() {
            return Ok(job_ids);
        }
        let text = OPEN_LINKS.of(self.backend);
        let links = self.ids_of(self.hot_reads(), text, vec![shard.into()]);
        let links: HashSet<i64> = links.await?.into_iter().collect();
        job_ids.retain(|id| !links.contains(id));
        Ok(job_ids)
    }

    /// The chain of this job has broken: it is enabled, has fires left, no cursor, and no link on its way. One statement, so
    /// that a chain that goes on meanwhile is whole. It walks over the shard: a program before `delayed_job` may have
    /// written the cursor.
    pub async fn is_chain_broken(&self, shard: i32, job_id: i64) -> Result<bool> {
        let text = "SELECT job.id FROM job WHERE job.id = ? AND job.shard = ? AND job.schedule_kind = 'fixed_delay' \
                    AND job.enabled = TRUE AND (job.fires_left IS NULL OR job.fires_left > 0) AND NOT EXISTS \
                    (SELECT 1 FROM job_clock WHERE job_clock.shard = job.shard AND job_clock.job_id = job.id) AND NOT EXISTS \
                    (SELECT 1 FROM run WHERE run.shard = job.shard AND run.state IN (0, 1, 2) AND run.state < 9 AND run.job_id = job.id \
                    AND run.chained = TRUE)";
        let values = vec![job_id.into(), shard.into()];
        let found = self.ids_of(self.hot_reads(), text, values).await?;
        Ok(!found.is_empty())
    }

    /// Begins a broken chain anew, if it still is broken. Answers whether it was.
    pub async fn mend_chain(&self, job_id: i64, now: Millis) -> Result<bool> {
        let tx = self.begin().await?;
        let text = format!("SELECT shard FROM job WHERE id = ?{}", self.for_update());
        let Some(row) = self.one(&tx, &text, vec![job_id.into()]).await? else {
            return Ok(false);
        };
        if self.has_open_link(&tx, row.try_get_by_index(0)?, job_id).await? {
            return Ok(false);
        }
        let job = self.job_by(&tx, job_id).await?;
        let mended = self.set_delayed_cursor(&tx, job, now).await?;
        tx.commit().await?;
        Ok(mended.is_some())
    }
}
