//! The next runs of a backfill.

use foldhash::{HashMap, HashSet};

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::{ConnectionTrait, FromQueryResult};

use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::OpenRuns;
use crate::db::sql::retry;
use crate::error::Result;
use crate::run::new_runs::NewRun;
use crate::views::BackfillStore;

/// Instants that are looked at in one transaction.
const PAGE: usize = 500;

/// A backfill that has not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromQueryResult)]
pub struct OpenBackfill {
    pub id: i64,
    pub job_id: i64,
    pub shard: i32,
    pub max_concurrent: i32,
}

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseResult {
    /// The new runs.
    pub runs: Vec<i64>,
    /// Nothing is left to do.
    pub finished: bool,
    /// Nothing of it could go on now: its job has as many open runs as it may.
    pub full: bool,
}

/// The open runs of backfills, by job; by the index of open runs.
pub(crate) static OPEN_OF_BACKFILLS: Bulk = Bulk::open_runs(OpenRuns {
    select: "run.job_id, COUNT(*)",
    states: &[RunState::Claimed, RunState::Sending, RunState::Running],
    only_if: "run.cause = {cause.backfill}",
    rest: "GROUP BY run.job_id",
});

impl BackfillStore<'_> {
    /// What is left to do in these shards; what belongs to a job that has been deleted is in shard 0.
    pub async fn open_backfills(self) -> Result<Vec<OpenBackfill>> {
        let text = "SELECT b.id, b.job_id, COALESCE(j.shard, 0) AS shard, b.max_concurrent FROM backfill b \
                    LEFT JOIN job j ON j.id = b.job_id WHERE b.finished_at IS NULL ORDER BY b.id";
        self.all(&self.engine_reads, text, vec![]).await
    }

    /// How many runs of backfills are open in these shards, by job.
    pub async fn open_runs_of_backfills(self, shards: &[i64]) -> Result<HashMap<i64, i64>> {
        Ok(self.bulk_tuples(&self.engine_reads, &OPEN_OF_BACKFILLS, &[], shards).await?.into_iter().collect())
    }

    /// Makes the runs that may be open beside those that are, in the order of their instants.
    pub async fn release(self, open: &OpenBackfill, now: Millis) -> Result<ReleaseResult> {
        // Most looks find no room: they must cost neither ids nor a write.
        let most = open.max_concurrent.unsigned_abs() as usize;
        let count = self.open_count(&self.engine_reads, open.shard, open.job_id);
        let room = most.saturating_sub(count.await?);
        if room == 0 {
            return Ok(ReleaseResult { full: true, ..ReleaseResult::default() });
        }
        let ids = self.take_ids(&ids::RUN, room).await?;
        retry::on_conflict(|| self.try_release(open, &ids, now)).await
    }

    async fn try_release(self, open: &OpenBackfill, ids: &[i64], now: Millis) -> Result<ReleaseResult> {
        let tx = self.begin().await?;
        // The job's row keeps two backfills of one job apart.
        let text = "SELECT shard FROM job WHERE id = ?{for_update}";
        let shard: Option<i32> = self.tuple(&tx, text, values![open.job_id]).await?;
        let text = "SELECT passed_at FROM backfill WHERE id = ? AND finished_at IS NULL{for_update}";
        let passed: Option<Millis> = self.tuple(&tx, text, values![open.id]).await?;
        let (Some(shard), Some(passed)) = (shard, passed) else {
            self.finish(&tx, open.id, true, now).await?;
            if shard.is_none() {
                self.forget_instants(&tx, open.id, Millis::MIN).await?;
            }
            tx.commit().await?;
            return Ok(ReleaseResult { finished: true, ..ReleaseResult::default() });
        };
        let most = open.max_concurrent.unsigned_abs() as usize;
        let count = self.open_count(&tx, shard, open.job_id).await?;
        let room = most.saturating_sub(count).min(ids.len());
        let text = "SELECT at FROM backfill_instant WHERE backfill_id = ? AND at > ? ORDER BY at LIMIT ?";
        let page: Vec<Millis> = self.tuples(&tx, text, values![open.id, passed, PAGE as i64]).await?;
        let made: HashSet<Millis> = self.backfilled_in(&tx, open.job_id, &page).await?.into_iter().collect();
        let (new, passed, skipped) = choose(&page, &made, room);
        let runs: Vec<i64> = ids[..new.len()].to_vec();
        // The handler sees the logical instant; the executor's log is kept under the time of the release.
        let run = |(at, id): (&Millis, &i64)| NewRun {
            id: *id,
            job_id: open.job_id,
            cause: Cause::Backfill,
            fire_no: *at,
            scheduled_at: *at,
            due_at: now,
        };
        self.runs().insert_runs(&tx, &new.iter().zip(&runs).map(run).collect::<Vec<_>>()).await?;
        let text = "UPDATE backfill SET passed_at = COALESCE(?, passed_at), released = released + ?, skipped = skipped + ? WHERE id = ?";
        let values = values![passed, new.len() as i32, skipped, open.id];
        self.execute(&tx, text, values).await?;
        let all = passed == page.last().copied();
        let finished = all && page.len() < PAGE;
        if finished {
            self.finish(&tx, open.id, false, now).await?;
        }
        tx.commit().await?;
        Ok(ReleaseResult { runs, finished, full: !all })
    }

    async fn open_count(self, db: &impl ConnectionTrait, shard: i32, job_id: i64) -> Result<usize> {
        let text = "SELECT COUNT(*) FROM run WHERE shard = ? AND state IN ({state.pending}) AND state < {state.final} AND job_id = ? AND cause = {cause.backfill}";
        let count: Option<i64> = self.tuple(db, text, values![shard, job_id]).await?;
        Ok(count.unwrap_or_default().unsigned_abs() as usize)
    }

    async fn finish(self, tx: &Transaction, id: i64, cancelled: bool, now: Millis) -> Result<()> {
        let text = "UPDATE backfill SET finished_at = ?, cancelled = ? WHERE id = ? AND finished_at IS NULL";
        self.execute(tx, text, values![now, cancelled, id]).await.map(drop)
    }

    /// Deletes the instants after this one. The others stay: the results of the runs are counted by them.
    pub(crate) async fn forget_instants(self, tx: &Transaction, id: i64, passed: Millis) -> Result<()> {
        let text = "DELETE FROM backfill_instant WHERE backfill_id = ? AND at > ?";
        self.execute(tx, text, values![id, passed]).await.map(drop)
    }
}

/// The instants that get a run, up to which all are passed then, and how many had one already.
fn choose(page: &[Millis], made: &HashSet<Millis>, room: usize) -> (Vec<Millis>, Option<Millis>, i32) {
    let (mut new, mut passed, mut skipped) = (vec![], None, 0);
    for &at in page {
        if made.contains(&at) {
            skipped += 1;
        } else if new.len() < room {
            new.push(at);
        } else {
            break;
        }
        passed = Some(at);
    }
    (new, passed, skipped)
}

#[cfg(test)]
mod tests {
    use crate::backfill::release::choose;

    #[test]
    fn what_has_its_run_takes_no_room() {
        let made = [20, 50].into_iter().collect();
        let page = [10, 20, 30, 40, 50];
        assert_eq!(choose(&page, &made, 2), (vec![10, 30], Some(30), 1));
        assert_eq!(choose(&page, &made, 9), (vec![10, 30, 40], Some(50), 2));
        assert_eq!(choose(&page, &made, 0), (vec![], None, 0));
        assert_eq!(choose(&[20], &made, 0), (vec![], Some(20), 1));
    }
}
