//! Runs that miss the objective of their job: one open alarm for each job, until a run of it starts in time.

use std::collections::BTreeMap;

use carillon_scheduler::{AlarmKind, Millis};
use foldhash::HashSet;
use sea_orm::FromQueryResult;

use crate::alarm::alarms::Alarm;
use crate::db::ids;
use crate::error::Result;
use crate::views::{AlarmStore, RunStore};

/// The first run of each job that waits under this epoch for longer than the objective of the job, whatever it waits for. The outer join and
/// `COALESCE` keep each database from walking over the jobs first.
pub(crate) const LATE_STARTS: &str = "SELECT late.run_id, late.job_id, late.due_at, late.start_within_seconds FROM \
     (SELECT run.id AS run_id, run.job_id, run.due_at, job.start_within_seconds, \
     ROW_NUMBER() OVER (PARTITION BY run.job_id ORDER BY run.due_at, run.id) AS place FROM run LEFT JOIN job ON job.id = run.job_id \
     WHERE run.shard = ? AND run.state = {state.claimed} AND run.state < {state.final} AND run.epoch = ? AND run.due_at <= ? \
     AND COALESCE(job.start_within_seconds, 0) > 0 AND run.due_at + COALESCE(job.start_within_seconds, 0) * 1000 < ?) AS late \
     WHERE late.place = 1 ORDER BY late.due_at, late.run_id LIMIT 1000";

/// As many as [`RunStore::late_starts`] answers at most: there may be more.
pub const MOST_LATE: usize = 1_000;

/// The shortest objective, in ms.
const SHORTEST: Millis = 1_000;

/// A run that has missed the objective of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromQueryResult)]
pub struct LateStart {
    pub run_id: i64,
    pub job_id: i64,
    pub due_at: Millis,
    pub start_within_seconds: i32,
}

impl LateStart {
    /// `sent_at`: None: it still waits.
    fn alarm(&self, sent_at: Option<Millis>, now: Millis) -> Alarm {
        let Self { run_id, job_id, due_at, start_within_seconds: within } = *self;
        let seconds = (sent_at.unwrap_or(now) - due_at) / 1_000;
        let text = match sent_at {
            Some(_) => format!("run {run_id} started {seconds} s after it was due; the objective is {within} s"),
            None => {
                format!("run {run_id} was due {seconds} s ago and has not started; the objective is {within} s")
            }
        };
        Alarm { kind: AlarmKind::LateStart, job_id: Some(job_id), run_id: Some(run_id), text }
    }
}

impl RunStore<'_> {
    /// The shards with jobs that have an objective.
    pub async fn shards_with_objectives(self) -> Result<HashSet<i32>> {
        let text = "SELECT DISTINCT shard FROM job WHERE start_within_seconds > 0";
        let shards: Vec<i32> = self.tuples(&self.engine_reads, text, vec![]).await?;
        Ok(shards.into_iter().collect())
    }

    /// Of each job of a shard the first run that waits under this epoch and has missed its objective; of a thousand jobs at most. Runs of
    /// the `paused` apps wait because a person has said so, and are left out.
    pub async fn late_starts(self, shard: i32, epoch: i64, paused: &[i64], now: Millis) -> Result<Vec<LateStart>> {
        let mut values = values![shard, epoch, now - SHORTEST, now];
        let mut text = LATE_STARTS.to_owned();
        if !paused.is_empty() {
            text = text.replace(") AS late", " AND run.app_id NOT IN ({ids})) AS late");
            values.push(self.ids(paused));
        }
        self.all(&self.engine_reads, &text, values).await
    }
}

impl AlarmStore<'_> {
    /// Raises an alarm for each job that has none open; answers those. With each run: when it was sent; None: it still waits.
    pub async fn raise_late_starts(self, late: &[(LateStart, Option<Millis>)], now: Millis) -> Result<Vec<Alarm>> {
        let mut jobs = BTreeMap::new();
        for (run, sent_at) in late {
            jobs.entry(run.job_id).or_insert((run, *sent_at));
        }
        for job_id in self.jobs_with_late_start().await? {
            jobs.remove(&job_id);
        }
        if jobs.is_empty() {
            return Ok(vec![]);
        }
        let ids = self.take_ids(&ids::ROW, jobs.len()).await?;
        let alarms = ids.into_iter().zip(jobs.values()).map(|(id, (run, sent_at))| (id, run.alarm(*sent_at, now)));
        let tx = self.begin().await?;
        let raised = self.raise_all(&tx, alarms.collect(), now).await?;
        tx.commit().await?;
        Ok(raised)
    }

    /// The jobs with an open alarm.
    pub async fn jobs_with_late_start(self) -> Result<Vec<i64>> {
        let text = "SELECT DISTINCT job_id FROM alarm WHERE open_at > 0 AND kind = {alarm.late_start}";
        self.tuples(&self.write, text, vec![]).await
    }

    /// Closes the alarms of these jobs; answers how many.
    pub async fn close_late_starts(self, job_ids: &[i64], now: Millis) -> Result<u64> {
        let text = "UPDATE alarm SET open_at = NULL, closed_at = ? WHERE open_at > 0 AND kind = {alarm.late_start} AND job_id IN ({ids})";
        self.execute(&self.write, text, values![now, self.ids(job_ids)]).await
    }

    /// Closes the alarms of jobs whose schedules have no further fire, and which have no open run: none may start in time any more. Answers
    /// how many. The jobs are read apart, or MariaDB would lock what the schedules go by.
    pub(crate) async fn close_last_late_starts(self, now: Millis) -> Result<u64> {
        let open = self.jobs_with_late_start().await?;
        if open.is_empty() {
            return Ok(0);
        }
        let text = "SELECT job.id FROM job WHERE job.id IN ({ids}) \
                    AND NOT EXISTS (SELECT 1 FROM job_clock WHERE job_clock.shard = job.shard AND job_clock.job_id = job.id) \
                    AND NOT EXISTS (SELECT 1 FROM run WHERE run.shard = job.shard AND run.state < {state.final} AND run.job_id = job.id)";
        let last: Vec<i64> = self.tuples(&self.write, text, values![self.ids(&open)]).await?;
        if last.is_empty() { Ok(0) } else { self.close_late_starts(&last, now).await }
    }
}
