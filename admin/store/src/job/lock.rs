//! The start of every change of a job: its rows are locked, and what is overdue by its old definition is recorded as a
//! claim would record it, so that no instant of the past is left without a record.

use std::panic::{AssertUnwindSafe, catch_unwind};

use carillon_scheduler::{Cause, Millis, PlanInput, RunState, Skipped, plan};
use sea_orm::Value;

use crate::job::stored_job::Job;
use crate::{Error, Result, Store, Transaction};

/// What a job's schedule left unrecorded up to now.
pub(crate) enum Past {
    /// Nothing, or these instants and ranges.
    Planned { fires: Vec<Millis>, skipped: Vec<Skipped> },
    /// The old definition cannot be planned: whoever mends it goes on from its cursor.
    Unplannable,
}

impl Past {
    pub fn of(job: &Job, now: Millis) -> Self {
        let (mut fires, mut skipped) = (vec![], vec![]);
        let Some(mut cursor) = job.next_fire_at.filter(|cursor| *cursor <= now) else {
            return Self::Planned { fires, skipped };
        };
        let Ok(schedule) = job.schedule() else {
            return Self::Unplannable;
        };
        let timing = PlanInput {
            schedule: &schedule,
            catch_up: job.draft.catch_up,
            misfire: job.draft.misfire,
            misfire_threshold_ms: job.draft.misfire_threshold_seconds * 1000,
            misfire_limit: job.draft.misfire_limit.unsigned_abs(),
            misfire_window_ms: job.draft.misfire_window_seconds * 1000,
            fires_left: job.fires_left.map(i32::unsigned_abs),
        };
        loop {
            // A schedule that panics must not make its job impossible to mend.
            let Ok(part) = catch_unwind(AssertUnwindSafe(|| plan(&timing, cursor, now, now, 1000))) else {
                return Self::Unplannable;
            };
            fires.extend(part.fires);
            skipped.extend(part.skipped);
            match part.next_fire_at {
                Some(next) if next <= now && next > cursor => cursor = next,
                _ => return Self::Planned { fires, skipped },
            }
        }
    }

    /// How many run ids it takes to record it.
    pub fn runs(&self) -> usize {
        match self {
            Self::Planned { fires, .. } => fires.len(),
            Self::Unplannable => 0,
        }
    }
}

const RUN: &str = "id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, chained, parent";
const MISFIRE: &str = "job_id, from_at, to_at, count, policy, reason, epoch";

impl Store {
    /// The job with its cursor, both rows locked until the end of the transaction.
    pub(crate) async fn lock_job(&self, tx: &Transaction, id: i64) -> Result<Job> {
        let missing = || Error::Missing(format!("job {id}"));
        let text = format!("SELECT id FROM job WHERE id = ?{}", self.for_update());
        self.one(tx, &text, vec![id.into()]).await?.ok_or_else(missing)?;
        // The cursor is found without a lock and then locked by its whole key: a locking walk over the shard would wait
        // for every claim. A claim may move it in between, at most once a scan.
        for _ in 0..20 {
            let job = self.job_by(tx, id).await?.ok_or_else(missing)?;
            if self.lock_clock(tx, &job).await? {
                return Ok(job);
            }
        }
        Err(Error::Busy)
    }

    async fn lock_clock(&self, tx: &Transaction, job: &Job) -> Result<bool> {
        let Some(next) = job.next_fire_at else {
            return Ok(true);
        };
        let text = format!(
            "SELECT revision FROM job_clock WHERE shard = ? AND next_fire_at = ? AND job_id = ?{}",
            self.for_update()
        );
        let key = vec![job.shard.into(), next.into(), job.id.into()];
        Ok(self.one(tx, &text, key).await?.is_some())
    }

    /// Writes what [`Past`] found. Epoch 0: the holder of the shard adopts the runs with its next scan.
    pub(crate) async fn record_past(&self, tx: &Transaction, job: &Job, past: &Past, run_ids: &[i64]) -> Result<()> {
        let Past::Planned { fires, skipped } = past else {
            return Ok(());
        };
        let runs: Vec<_> = fires.iter().zip(run_ids).map(|(at, id)| run_row(job, *at, *id)).collect();
        for chunk in runs.chunks(100) {
            self.insert_rows(tx, "run", RUN, chunk.to_vec()).await?;
        }
        let ranges = skipped.iter().map(|range| misfire_row(job, range)).collect();
        self.insert_rows(tx, "misfire", MISFIRE, ranges).await
    }
}

fn run_row(job: &Job, instant: Millis, id: i64) -> Vec<Value> {
    vec![
        id.into(),
        job.id.into(),
        job.app_id.into(),
        job.shard.into(),
        Cause::Schedule.code().into(),
        instant.into(),
        0i32.into(),
        1i32.into(),
        1i32.into(),
        instant.into(),
        instant.into(),
        RunState::Claimed.code().into(),
        0i64.into(),
        0i32.into(),
        (job.draft.schedule.kind() == "fixed_delay").into(),
        (!job.draft.children.is_empty()).into(),
    ]
}

fn misfire_row(job: &Job, range: &Skipped) -> Vec<Value> {
    vec![
        job.id.into(),
        range.from_at.into(),
        range.to_at.into(),
        (range.count as i32).into(),
        job.draft.misfire.as_str().into(),
        range.reason.as_str().into(),
        0i64.into(),
    ]
}
