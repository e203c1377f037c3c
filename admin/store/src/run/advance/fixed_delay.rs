//! A fixed delay: its next instant is counted from the end of its last fire, so it hangs on a chain. Either its cursor
//! stands in `job_clock`, or a run with the bit [`CHAIN`](crate::run::follow::CHAIN) is on its way; what follows from its end sets the cursor.

use foldhash::HashSet;

use carillon_scheduler::Millis;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::IDS;
use crate::error::Result;
use crate::job::create::{CLOCK, cursor_row};
use crate::job::stored_job::Job;
use crate::run::advance::advancing::Fire;
use crate::views::RunStore;

/// Jobs that a round of the audit looks at in each shard.
const PAGE: usize = 500;

/// The cursor of a fixed delay by its job: a walk over the shard's cursors would cost each of its runs.
pub(crate) const DELAYED_CURSOR: &str =
    "SELECT next_fire_at FROM job_clock WHERE delayed_job = ? AND delayed_job IS NOT NULL";

/// A page of the jobs with a fixed delay, by id. PostgreSQL chooses by its statistics: `job_delayed` where they are few among
/// the jobs, the primary key where they are many.
pub(crate) const DELAYED_JOBS: &str = "SELECT id, enabled, fires_left FROM job{by_index job_kind} \
     WHERE schedule_kind = 'fixed_delay' AND shard = ? AND id > {?} ORDER BY shard, id LIMIT ?";

/// Which of these jobs have a cursor.
pub(crate) static DELAYED_CURSORS: Bulk = Bulk::text(
    IDS,
    "SELECT c.delayed_job FROM {list} {join} job_clock AS c{index job_clock_delayed} ON c.delayed_job = u.id AND c.delayed_job IS NOT NULL",
);

/// The jobs of a shard with a link on its way: one walk over its open runs.
pub(crate) const OPEN_LINKS: &str = "SELECT job_id FROM run{index run_open} \
     WHERE shard = ? AND state IN ({state.pending}) AND state < {state.final} AND (follow & {follow.chain}) <> 0";

impl RunStore<'_> {
    /// A run of this fire has ended; if it was the last of it, the next instant is counted from its end, or from `now` where that is
    /// not known. Answers the shard that has a new cursor. The job's row must be locked.
    pub(crate) async fn schedule_next_delay(self, tx: &Transaction, fire: Fire, now: Millis) -> Result<Option<i32>> {
        let text = "SELECT COUNT(CASE WHEN state IN ({state.pending}) THEN 1 END), MAX(finished_at) FROM run \
                    WHERE fire_no = ? AND job_id = ? AND cause = {cause.schedule}";
        let found: Option<(i64, Option<Millis>)> = self.tuple(tx, text, values![fire.fire_no, fire.job_id]).await?;
        match found {
            Some((0, ended_at)) => {
                let job = self.delayed_job(tx, fire.job_id).await?;
                self.set_delayed_cursor(tx, job, ended_at.unwrap_or(now)).await
            }
            _ => Ok(None),
        }
    }

    /// A job and the cursor of its fixed delay, found by keys alone.
    async fn delayed_job(self, tx: &Transaction, job_id: i64) -> Result<Option<Job>> {
        let Some(mut job) = self.jobs().job_without_due_time(tx, job_id).await? else {
            return Ok(None);
        };
        job.next_fire_at = self.tuple(tx, DELAYED_CURSOR, values![job_id]).await?;
        Ok(Some(job))
    }

    /// The cursor of a fixed delay whose last run ended at `ended_at`, if the job is enabled, has none, and has fires left.
    async fn set_delayed_cursor(self, tx: &Transaction, job: Option<Job>, ended_at: Millis) -> Result<Option<i32>> {
        let Some(mut job) = job else {
            return Ok(None);
        };
        if !job.draft.enabled || job.next_fire_at.is_some() || job.fires_left == Some(0) {
            return Ok(None);
        }
        // What cannot be parsed any more is found by an edit.
        job.next_fire_at = job.schedule().ok().and_then(|schedule| schedule.after_end(ended_at));
        let Some(clock) = cursor_row(&job) else {
            return Ok(None);
        };
        self.insert_rows(tx, "job_clock", CLOCK, vec![clock]).await?;
        self.forget_chain_ends(tx, job.id).await?;
        Ok(Some(job.shard))
    }

    /// A link of the job's chain is on its way: its end will set the cursor.
    pub(crate) async fn has_open_delay_run(self, tx: &Transaction, shard: i32, job_id: i64) -> Result<bool> {
        let text = "SELECT COUNT(*) FROM run WHERE shard = ? AND state IN ({state.pending}) AND state < {state.final} AND job_id = ? AND (follow & {follow.chain}) <> 0";
        let count: Option<i64> = self.tuple(tx, text, values![shard, job_id]).await?;
        Ok(count.is_some_and(|count| count > 0))
    }

    /// Jobs of a shard with a fixed delay whose chain has broken, of one page behind the job `after`; and the job behind
    /// which the next page begins (0: at the first).
    pub async fn stalled_fixed_delays(self, shard: i32, after: i64) -> Result<(Vec<i64>, i64)> {
        let values = values![shard, after, PAGE as i64];
        let jobs: Vec<(i64, bool, Option<i32>)> = self.tuples(&self.engine_reads, DELAYED_JOBS, values).await?;
        let next = jobs.last().filter(|_| jobs.len() == PAGE).map_or(0, |job| job.0);
        let goes_on = jobs.into_iter().filter(|(_, enabled, left)| *enabled && left.is_none_or(|left| left > 0));
        let going = goes_on.map(|job| job.0).collect();
        let mut broken = vec![];
        for job_id in self.without_chain(shard, going).await? {
            if self.is_fixed_delay_stalled(shard, job_id).await? {
                broken.push(job_id);
            }
        }
        Ok((broken, next))
    }

    /// The jobs among these that seem to have neither a cursor nor a link on its way. A chain that went on between the reads
    /// is among them.
    async fn without_chain(self, shard: i32, mut job_ids: Vec<i64>) -> Result<Vec<i64>> {
        if job_ids.is_empty() {
            return Ok(job_ids);
        }
        let cursors = self.bulk_tuples(&self.engine_reads, &DELAYED_CURSORS, &[], &job_ids).await?;
        let cursors: HashSet<i64> = cursors.into_iter().collect();
        job_ids.retain(|id| !cursors.contains(id));
        if job_ids.is_empty() {
            return Ok(job_ids);
        }
        let links = self.tuples(&self.engine_reads, OPEN_LINKS, values![shard]).await?;
        let links: HashSet<i64> = links.into_iter().collect();
        job_ids.retain(|id| !links.contains(id));
        Ok(job_ids)
    }

    /// The chain of this job has broken: it is enabled, has fires left, no cursor, and no link on its way. One statement, so
    /// that a chain that goes on meanwhile is whole. It walks over the shard: a program before `delayed_job` may have
    /// written the cursor.
    pub async fn is_fixed_delay_stalled(self, shard: i32, job_id: i64) -> Result<bool> {
        let text = "SELECT job.id FROM job WHERE job.id = ? AND job.shard = ? AND job.schedule_kind = 'fixed_delay' \
                    AND job.enabled = TRUE AND (job.fires_left IS NULL OR job.fires_left > 0) AND NOT EXISTS \
                    (SELECT 1 FROM job_clock WHERE job_clock.shard = job.shard AND job_clock.job_id = job.id) AND NOT EXISTS \
                    (SELECT 1 FROM run WHERE run.shard = job.shard AND run.state IN ({state.pending}) AND run.state < {state.final} AND run.job_id = job.id \
                    AND (run.follow & {follow.chain}) <> 0) AND NOT EXISTS (SELECT 1 FROM follow_up WHERE follow_up.job_id = job.id AND follow_up.kind = 1)";
        let values = values![job_id, shard];
        Ok(self.tuple::<i64>(&self.engine_reads, text, values).await?.is_some())
    }

    /// Restarts a chain if it is still broken. Returns whether it was.
    pub async fn restart_fixed_delay(self, job_id: i64, now: Millis) -> Result<bool> {
        let tx = self.begin().await?;
        let text = "SELECT shard FROM job WHERE id = ?{for_update}";
        let Some(shard) = self.tuple(&tx, text, values![job_id]).await? else {
            return Ok(false);
        };
        if self.has_open_delay_run(&tx, shard, job_id).await? {
            return Ok(false);
        }
        let job = self.jobs().job_by(&tx, job_id).await?;
        let mended = self.set_delayed_cursor(&tx, job, now).await?;
        tx.commit().await?;
        Ok(mended.is_some())
    }
}
