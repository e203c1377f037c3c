//! Runs that are due and were not sent for too long: flagged in their rows, with one alarm for a job.

use std::collections::BTreeMap;

use carillon_scheduler::{AlarmKind, Millis};

use crate::alarm::alarms::Alarm;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Lock;
use crate::db::sql::list::IDS;
use crate::error::Result;
use crate::views::RunStore;

/// Runs that wait under this epoch for longer than their jobs allow. One that waits for an earlier run of its job waits as
/// its job says, and has no limit.
pub(crate) const PENDING: &str = "SELECT run.id, run.due_at, job.flag_after_seconds FROM run LEFT JOIN job ON job.id = run.job_id \
     WHERE run.shard = ? AND run.state = {state.claimed} AND run.state < {state.final} AND run.epoch = ? AND run.due_at >= ? AND run.due_at <= ? AND run.flagged_at IS NULL \
     AND (run.reason IS NULL OR run.reason <> {reason.overlap}) \
     AND run.due_at + CASE WHEN job.flag_after_seconds > 0 THEN job.flag_after_seconds * 1000 ELSE ? END <= ? \
     ORDER BY run.due_at, run.id LIMIT 1000";

/// The one of them that was due first.
pub(crate) const OLDEST: &str = "SELECT due_at FROM run WHERE shard = ? AND state = {state.claimed} AND state < {state.final} AND epoch = ? AND flagged_at IS NULL \
     AND (reason IS NULL OR reason <> {reason.overlap}) ORDER BY due_at LIMIT 1";

pub(crate) static LOCK_PENDING: Bulk = Bulk::lock(Lock {
    columns: "run.id, run.job_id, run.due_at",
    table: "run",
    id: "run.id",
    only_if: "{+run.state} = {state.claimed} AND run.flagged_at IS NULL",
});

pub(crate) static FLAG: Bulk = Bulk::update_runs(IDS, &[("flagged_at", ":now")], "");

/// The shortest time that a job can name, in ms.
const SHORTEST: i64 = 1_000;

/// Flagged in one transaction: a mark of one of them waits no longer than for these.
pub const PAGE: usize = 100;

/// A run that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverdueRun {
    pub run_id: i64,
    /// From then on it waits for too long.
    pub late_at: Millis,
}

/// What was flagged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flagged {
    pub runs: usize,
    /// One for each job that has no open alarm yet.
    pub alarms: Vec<Alarm>,
}

/// Runs by job: id, and when it was due.
type ByJob = BTreeMap<i64, Vec<(i64, Millis)>>;

impl RunStore<'_> {
    /// The first thousand runs that wait in a shard under this epoch and will have waited for too long at `until`: for longer
    /// than their job allows, or than `after_ms` where it says nothing. The one that was due first is first. What was due
    /// before `from` is left out: PostgreSQL cannot forget the places of runs that were sent while an old snapshot is open,
    /// and would walk over all of them. Runs of the `paused` apps wait because a person has said so: they are left out here, or
    /// a thousand of them would hide all others.
    pub async fn late(
        self,
        shard: i32,
        epoch: i64,
        after_ms: i64,
        from: Millis,
        until: Millis,
        paused: &[i64],
    ) -> Result<Vec<OverdueRun>> {
        let mut values = values![shard, epoch, from, until - after_ms.min(SHORTEST), after_ms, until];
        let mut text = PENDING.to_owned();
        if !paused.is_empty() {
            text = text.replace("ORDER BY", "AND run.app_id NOT IN ({ids}) ORDER BY");
            values.push(self.ids(paused));
        }
        let late = |(run_id, due_at, seconds): (i64, Millis, Option<i32>)| {
            let of_job = seconds.filter(|after| *after > 0);
            let after = of_job.map_or(after_ms, |seconds| i64::from(seconds) * 1000);
            OverdueRun { run_id, late_at: due_at + after }
        };
        Ok(self.tuples(&self.engine_reads, &text, values).await?.into_iter().map(late).collect())
    }

    /// When the first run was due that waits in a shard under this epoch and is not flagged.
    pub async fn oldest_waiting(self, shard: i32, epoch: i64) -> Result<Option<Millis>> {
        let values = values![shard, epoch];
        self.tuple(&self.engine_reads, OLDEST, values).await
    }

    /// Flags those of these runs that still wait, at most [`PAGE`] of them.
    pub async fn flag_runs(self, run_ids: &[i64], now: Millis) -> Result<Flagged> {
        // Locked in the order that all transactions keep.
        let mut run_ids: Vec<i64> = run_ids.iter().copied().take(PAGE).collect();
        run_ids.sort_unstable();
        let alarm_ids = self.take_ids(&ids::ROW, run_ids.len()).await?;
        let tx = self.begin().await?;
        let (flagged, mut jobs) = self.lock_pending(&tx, &run_ids).await?;
        if flagged.is_empty() {
            return Ok(Flagged::default());
        }
        self.bulk(&tx, &FLAG, &named![now], &flagged).await?;
        for job_id in self.jobs_with_open_alarm(&tx, &jobs).await? {
            jobs.remove(&job_id);
        }
        let alarms = alarm_ids.into_iter().zip(&jobs).map(|(id, (job_id, runs))| (id, of_job(*job_id, runs, now)));
        let alarms = self.alarms().raise_all(&tx, alarms.collect(), now).await?;
        tx.commit().await?;
        let runs = flagged.len();
        Ok(Flagged { runs, alarms })
    }

    /// `run_ids` must ascend.
    async fn lock_pending(self, tx: &Transaction, run_ids: &[i64]) -> Result<(Vec<i64>, ByJob)> {
        let (mut locked, mut jobs) = (vec![], ByJob::new());
        for (id, job_id, due_at) in self.bulk_tuples(tx, &LOCK_PENDING, &[], run_ids).await? {
            locked.push(id);
            jobs.entry(job_id).or_default().push((id, due_at));
        }
        Ok((locked, jobs))
    }

    /// Jobs of which an alarm is open.
    async fn jobs_with_open_alarm(self, tx: &Transaction, jobs: &ByJob) -> Result<Vec<i64>> {
        let job_ids: Vec<i64> = jobs.keys().copied().collect();
        let text = "SELECT DISTINCT job_id FROM alarm WHERE open_at > 0 AND kind = {alarm.stuck} AND job_id IN ({ids})";
        self.tuples(tx, text, values![self.ids(&job_ids)]).await
    }

    /// How many runs of a shard wait though at `before` the misfire threshold of their job was over, and the first of them.
    /// The threshold counts from `waited_since` for runs that were due earlier. Runs that wait for an earlier one of their
    /// job have no limit.
    pub async fn count_overdue_runs(
        self,
        shard: i32,
        before: Millis,
        waited_since: Millis,
    ) -> Result<Option<(i64, i64)>> {
        // The first comparison of `due_at` bounds the walk over the index.
        let text = "SELECT MIN(run.id), COUNT(*) FROM run LEFT JOIN job ON job.id = run.job_id \
                    WHERE run.shard = ? AND run.state = {state.claimed} AND run.state < {state.final} AND run.due_at < ? \
                    AND run.due_at + COALESCE(job.misfire_threshold_ms, 0) < ? AND COALESCE(job.misfire_threshold_ms, 0) < ? \
                    AND (run.reason IS NULL OR run.reason <> {reason.overlap})";
        let values = values![shard, before, before, before - waited_since];
        let found: Option<(Option<i64>, i64)> = self.tuple(&self.engine_reads, text, values).await?;
        Ok(found.and_then(|(first, count)| Some((first?, count))))
    }
}

fn of_job(job_id: i64, runs: &[(i64, Millis)], now: Millis) -> Alarm {
    let (first, due_at) = runs[0];
    let seconds = (now - due_at) / 1000;
    let others = match runs.len() {
        1 => String::new(),
        count => format!(", and {} more of its job", count - 1),
    };
    Alarm {
        kind: AlarmKind::Stuck,
        job_id: Some(job_id),
        run_id: Some(first),
        text: format!("run {first} was due {seconds} s ago and has not been sent{others}"),
    }
}
