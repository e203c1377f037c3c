//! What was found in the table enters the ring; an adopted first attempt that is too late by now follows its misfire policy.

use std::collections::HashMap;
use std::sync::PoisonError;

use carillon_scheduler::{AlarmKind, Cause, Millis, MisfirePolicy, RunReason};

use crate::plan::job_cache::Job;
use crate::plan::scanner::Scan;
use crate::store;
use crate::store::run::adopt::Waiting;
use crate::store::run::claim::Holder;

/// How late a run may be that is found in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lateness {
    /// An earlier holder has left it, or it has had no holder yet: its job's misfire policy decides.
    Judged,
    /// This holder has claimed it itself.
    Ours,
}

impl Scan {
    pub(crate) async fn enter_ring(&self, holder: &Holder<'_>, ids: Vec<i64>, lateness: Lateness) -> store::Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let pipeline = &self.pipeline;
        let store = &pipeline.store;
        let found = store.waiting_runs(self.shard, holder.epoch, &ids).await?;
        self.alarm_unreadable(&found.unreadable).await;
        let found = found.runs;
        let late = match lateness {
            Lateness::Judged => self.misfired(&found).await?,
            Lateness::Ours => vec![],
        };
        if !late.is_empty() {
            store.cancel(&late, RunReason::Misfire, pipeline.clock.now()).await?;
            tracing::info!(
                shard = self.shard,
                run.count = late.len(),
                "recorded instants were reached too late to run"
            );
        }
        let is_late = |run: &Waiting| late.binary_search(&run.run_id).is_ok();
        for run in found.into_iter().filter(|run| !is_late(run)) {
            let due_at = run.due_at;
            pipeline.put_in_ring(run, due_at);
        }
        Ok(())
    }

    /// A newer version may have written what this one does not know. Such a run is left to a node that does; the others
    /// of its shard go on.
    async fn alarm_unreadable(&self, unreadable: &[(i64, String)]) {
        for (run_id, what) in unreadable {
            let is_new = {
                let mut known = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
                known.insert(*run_id)
            };
            if !is_new {
                continue;
            }
            let text = format!("run {run_id} waits and cannot be read, so it is not sent: {what}");
            let raised = self.pipeline.raise_alarm(AlarmKind::Stuck, None, Some(*run_id), &*text);
            if let Err(error) = raised.await {
                tracing::error!(%error, "an alarm could not be stored: {text}");
            }
        }
    }

    /// Older than the job's threshold, and its policy does not run them. Sorted.
    async fn misfired(&self, found: &[Waiting]) -> store::Result<Vec<i64>> {
        let pipeline = &self.pipeline;
        let now = pipeline.clock.now();
        let scheduled = |run: &&Waiting| {
            run.cause == Cause::Schedule && run.attempt == 1 && run.bound_to.is_none() && !run.overlaps
        };
        let mut by_job: HashMap<i64, Vec<&Waiting>> = HashMap::new();
        for run in found.iter().filter(scheduled) {
            by_job.entry(run.job_id).or_default().push(run);
        }
        // The shortest threshold is a second; most of the time nothing is that late.
        by_job.retain(|_, runs| runs.iter().any(|run| run.scheduled_at < now - 1000));
        if by_job.is_empty() {
            return Ok(vec![]);
        }
        let ids: Vec<i64> = by_job.keys().copied().collect();
        let jobs = pipeline.jobs.current(&pipeline.store, &ids).await?;
        let mut misfired = Vec::new();
        for (job_id, mut runs) in by_job {
            let Some(job) = jobs.get(&job_id) else {
                continue;
            };
            runs.sort_unstable_by_key(|run| run.scheduled_at);
            misfired.extend(too_late(job, &runs, now));
        }
        misfired.sort_unstable();
        Ok(misfired)
    }
}

/// Which runs of a job, earliest first, its misfire policy does not run: of those that are missed `fire_once` runs the
/// latest unless a later instant runs anyway, `fire_all` the latest so many, `fire_within` those that are not too old.
fn too_late(job: &Job, runs: &[&Waiting], now: Millis) -> Vec<i64> {
    let missed_before = now - job.stored.misfire_threshold_ms;
    let missed = runs.partition_point(|run| run.scheduled_at < missed_before);
    let policy = job.rules.as_ref().map_or(MisfirePolicy::FireOnce, |rules| rules.misfire);
    let dropped = match policy {
        MisfirePolicy::Skip => missed,
        MisfirePolicy::FireOnce if missed < runs.len() => missed,
        MisfirePolicy::FireOnce => missed.saturating_sub(1),
        MisfirePolicy::FireAll => missed.saturating_sub(usize::try_from(job.stored.misfire_limit).unwrap_or_default()),
        MisfirePolicy::FireWithin => {
            let oldest = now - job.stored.misfire_window_ms;
            runs[..missed].partition_point(|run| run.scheduled_at < oldest)
        }
    };
    runs[..dropped].iter().map(|run| run.run_id).collect()
}
