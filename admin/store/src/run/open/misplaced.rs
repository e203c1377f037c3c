//! Rows in a shard that is not their job's. Nothing writes such rows (`reshard` says why), but no scan would ever look for one:
//! a claim, an adoption and every audit of a holder begin with the shard. So one node looks at all shards for them.

use carillon_scheduler::{AlarmKind, Millis};

use crate::alarm::alarms::Alarm;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::OpenRuns;
use crate::error::Result;
use crate::lease::reshard::MAX_SHARDS;
use crate::run::claim::DueJob;
use crate::run::view::records::{CursorPosition, FIRST};
use crate::views::RunStore;

/// Open runs in a wrong shard, also in one that does not exist any more.
pub(crate) static MISPLACED: Bulk = Bulk::open_runs(OpenRuns {
    select: "run.id",
    states: &[],
    only_if: "run.shard <> run.job_id % :count",
    rest: "ORDER BY run.id LIMIT 1000",
});

/// The epoch of a run that changes its shard: epochs of two shards cannot be compared, so that of the wrong one must not be
/// taken for one of the right one.
///
/// - `claimed`: 0, an orphan. The right holder adopts it under any epoch of its own; kept, an epoch above the holder's would
///   never be adopted. The mark of the wrong shard's holder compares the epoch, and is refused.
/// - `sending`: 0 as well, for it may yet become `claimed` again, when its request was certainly not written. The sender
///   itself goes by its mark's token, and the resolver by the state: to neither the epoch matters.
/// - `running`, `unknown`, `lost`: as it was. No way leads back from there to `claimed`, it is not compared any more, and it
///   is the record of the epoch under which the run was sent.
///
/// A change of the count (`reshard`) needs none of this: there every lease gets an epoch above all that any row can have.
const ORPHANED: &str = ", epoch = CASE WHEN state IN ({state.claimed}, {state.sending}) THEN 0 ELSE epoch END";

/// Rows of jobs that one look reads, and as many of their cursors; the next one goes on behind them.
const SLICE: usize = 2000;

/// How far the looks have come. A job's row in a wrong shard is still found and fired, so these need not be quick; open runs,
/// which no holder would find there, are all looked at each time.
#[derive(Clone, Copy, Debug)]
pub struct RepairCursor {
    job: i64,
    cursor: (i32, CursorPosition),
}

impl Default for RepairCursor {
    fn default() -> Self {
        Self { job: 0, cursor: (0, FIRST) }
    }
}

impl RunStore<'_> {
    /// Puts right what is in a shard that its job is not in, and answers the alarm for it: it is a
    /// defect, here or of another program that wrote into the database. None: all that was looked at was right.
    pub async fn repair_misplaced(self, walk: &mut RepairCursor, now: Millis) -> Result<Option<Alarm>> {
        let count = self.leases().shard_count().await?;
        let all: Vec<i64> = (0..i64::from(MAX_SHARDS)).collect();
        let runs = self.bulk_tuples(&self.engine_reads, &MISPLACED, &named![count], &all).await?;
        let mut jobs = self.astray_jobs(walk, count).await?;
        jobs.extend(self.astray_cursors(walk, count).await?);
        jobs.extend(self.astray_triggers(count).await?);
        if runs.is_empty() && jobs.is_empty() {
            return Ok(None);
        }
        jobs.sort_unstable();
        jobs.dedup();
        self.put_right(&jobs, &runs, now).await
    }

    async fn astray_jobs(self, walk: &mut RepairCursor, count: i32) -> Result<Vec<i64>> {
        let text = "SELECT id, shard FROM job WHERE id > ? ORDER BY id LIMIT ?";
        let values = values![walk.job, SLICE as i64];
        let jobs: Vec<(i64, i32)> = self.tuples(&self.engine_reads, text, values).await?;
        walk.job = jobs.last().filter(|_| jobs.len() == SLICE).map_or(0, |job| job.0);
        let is_astray = |(id, shard): &(i64, i32)| i64::from(*shard) != id % i64::from(count);
        Ok(jobs.into_iter().filter(is_astray).map(|job| job.0).collect())
    }

    async fn astray_cursors(self, walk: &mut RepairCursor, count: i32) -> Result<Vec<i64>> {
        // No scan reads a shard that does not exist: those first, and all of them.
        let text = "SELECT job_id FROM job_clock WHERE shard >= ? LIMIT ?";
        let values = values![count, SLICE as i64];
        let mut astray = self.tuples::<i64>(&self.engine_reads, text, values).await?;
        let mut budget = SLICE;
        let (mut shard, mut place) = walk.cursor;
        while budget > 0 && shard < count {
            let page = self.cursors_behind(shard, place, budget).await?;
            let is_wrong = |due: &&DueJob| due.job_id % i64::from(count) != i64::from(shard);
            astray.extend(page.iter().filter(is_wrong).map(|due| due.job_id));
            match page.last() {
                Some(last) if page.len() == budget => place = (last.next_fire_at, last.job_id),
                _ => (shard, place) = (shard + 1, FIRST),
            }
            budget -= page.len();
        }
        walk.cursor = if shard < count { (shard, place) } else { (0, FIRST) };
        Ok(astray)
    }

    /// The jobs of delayed triggers that no scan reads. One in the shard of another job becomes a run at its time, and that is put right.
    async fn astray_triggers(self, count: i32) -> Result<Vec<i64>> {
        let text = "SELECT job_id FROM delayed_trigger WHERE shard >= ? LIMIT ?";
        self.tuples(&self.engine_reads, text, values![count, SLICE as i64]).await
    }

    /// The count is read again, and stays until this is committed: a change of it meanwhile has moved what was found.
    async fn put_right(self, jobs: &[i64], runs: &[i64], now: Millis) -> Result<Option<Alarm>> {
        let alarm_id = self.take_id(&ids::ROW).await?;
        let tx = self.begin().await?;
        let Some(count) = self.leases().shard_count_in(&tx).await? else {
            return Ok(None);
        };
        let right = |key: &str| format!("SET shard = {key} % {count}");
        let astray = |key: &str| format!("AND shard <> {key} % {count}");
        let job = format!("UPDATE job {} WHERE id = ? {}", right("id"), astray("id"));
        let (set, only) = (right("job_id"), astray("job_id"));
        let clock = format!("UPDATE job_clock {set} WHERE job_id = ? {only}");
        let triggers = format!("UPDATE delayed_trigger {set} WHERE job_id = ? {only}");
        let run = format!("UPDATE run {set}{ORPHANED} WHERE id = ? AND state < {{state.final}} {only}");
        let moved = self.each(&tx, &job, jobs).await? + self.each(&tx, &clock, jobs).await?;
        let jobs = moved + self.each(&tx, &triggers, jobs).await?;
        let runs = self.each(&tx, &run, runs).await?;
        if jobs + runs == 0 {
            return Ok(None);
        }
        let alarm = Alarm {
            kind: AlarmKind::Stuck,
            job_id: None,
            run_id: None,
            text: format!(
                "{runs} open runs and {jobs} rows of jobs were in a shard that is not their job's, and are put right"
            ),
        };
        let alarm = self.alarms().raise(&tx, alarm_id, alarm, now).await?;
        tx.commit().await?;
        Ok(Some(alarm))
    }

    async fn each(self, tx: &Transaction, text: &str, ids: &[i64]) -> Result<u64> {
        let mut changed = 0;
        for id in ids {
            let done = self.execute(tx, text, values![*id]).await?;
            changed += done;
        }
        Ok(changed)
    }
}
