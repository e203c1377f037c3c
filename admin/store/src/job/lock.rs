//! The start of every change of a job: its rows are locked, and what is overdue by its old definition is recorded as a
//! claim would record it, so that no instant of the past is left without a record.

use std::panic::{AssertUnwindSafe, catch_unwind};

use carillon_scheduler::{Cause, Millis, PlanInput, Skipped, plan};

use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::job::stored_job::Job;
use crate::run::claim::SkippedRange;
use crate::run::new_runs::NewRun;
use crate::views::JobStore;

/// A job that is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetJob {
    pub id: i64,
    /// The app in which the actor may change it: moved to another one meanwhile, it is missing. None: whichever it belongs to.
    pub app_id: Option<i64>,
}

impl TargetJob {
    pub const fn of_app(id: i64, app_id: i64) -> Self {
        Self { id, app_id: Some(app_id) }
    }

    pub(crate) fn is_in(&self, app_id: i64) -> bool {
        self.app_id.is_none_or(|own| own == app_id)
    }
}

impl From<i64> for TargetJob {
    fn from(id: i64) -> Self {
        Self { id, app_id: None }
    }
}

/// What a job's schedule left unrecorded up to now.
pub(crate) enum OverdueInstants {
    /// Nothing, or these instants and ranges.
    Planned { fires: Vec<Millis>, skipped: Vec<Skipped> },
    /// The old definition cannot be planned: the change that repairs it goes on from its cursor.
    Unplannable,
}

impl OverdueInstants {
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

impl JobStore<'_> {
    /// The job with its cursor, both rows locked until the end of the transaction.
    pub(crate) async fn lock_job(self, tx: &Transaction, target: TargetJob) -> Result<Job> {
        let id = target.id;
        let missing = || Error::Missing(format!("job {id}"));
        let text = "SELECT app_id FROM job WHERE id = ?{for_update}";
        let app_id: Option<i64> = self.tuple(tx, text, values![id]).await?;
        app_id.filter(|app_id| target.is_in(*app_id)).ok_or_else(missing)?;
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

    async fn lock_clock(self, tx: &Transaction, job: &Job) -> Result<bool> {
        let Some(next) = job.next_fire_at else {
            return Ok(true);
        };
        let text = "SELECT revision FROM job_clock WHERE shard = ? AND next_fire_at = ? AND job_id = ?{for_update}";
        let key = values![job.shard, next, job.id];
        Ok(self.tuple::<i64>(tx, text, key).await?.is_some())
    }

    /// Writes what [`OverdueInstants`] found. Epoch 0: the holder of the shard adopts the runs with its next scan.
    pub(crate) async fn record_overdue(
        self,
        tx: &Transaction,
        job: &Job,
        past: &OverdueInstants,
        run_ids: &[i64],
    ) -> Result<()> {
        let OverdueInstants::Planned { fires, skipped } = past else {
            return Ok(());
        };
        let run = |(at, id): (&Millis, &i64)| NewRun {
            id: *id,
            job_id: job.id,
            cause: Cause::Schedule,
            fire_no: *at,
            scheduled_at: *at,
            due_at: *at,
        };
        self.runs().insert_runs(tx, &fires.iter().zip(run_ids).map(run).collect::<Vec<_>>()).await?;
        let range = |it: &Skipped| SkippedRange {
            from_at: it.from_at,
            to_at: it.to_at,
            count: i64::from(it.count),
            policy: job.draft.misfire.as_str(),
            reason: it.reason.as_str(),
        };
        let skipped: Vec<_> = skipped.iter().map(range).collect();
        let skipped: Vec<_> = skipped.iter().map(|range| (job.id, range)).collect();
        self.runs().record_skipped(tx, 0, &skipped).await
    }
}
