//! Runs that miss the objective of their job: they have an alarm while they still wait, or when they start late between two looks. The
//! alarm of a job is open until a run of it that was due later starts in time.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::alarm::late_starts::{LateStart, MOST_LATE};
use foldhash::{HashMap, HashSet};

use crate::context::Context;
use crate::dispatch::app_pauses::AppPauses;
use crate::dispatch::send::observed_starts::{JobStarts, ObservedStarts};
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::runtime::{Service, Step};

/// A miss has its alarm this long after it happened, at most.
const EVERY: Duration = Duration::from_secs(5);

pub struct StartWatcher {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) clock_guard: Arc<ClockGuard>,
    pub(crate) pauses: Arc<AppPauses>,
    pub(crate) starts: Arc<ObservedStarts>,
}

#[derive(Default)]
struct Waiting {
    late: Vec<LateStart>,
    /// Further jobs may have such runs, so no alarm is over for lack of one.
    may_lack: bool,
}

impl StartWatcher {
    async fn round(&self) -> store::Result<usize> {
        if self.clock_guard.is_suspect() {
            return Ok(0);
        }
        let now = self.cx.clock.now();
        let waiting = self.waiting(now).await?;
        let started = self.starts.take();
        let written = self.write(&waiting, &started, now).await;
        if written.is_err() {
            self.starts.put_back(started);
        }
        written
    }

    /// Of each job the first run that waits and has missed its objective. Shards without such jobs are not looked at.
    async fn waiting(&self, now: Millis) -> store::Result<Waiting> {
        let shards = self.cx.store.runs().shards_with_objectives().await?;
        let Some(paused) = self.pauses.paused_apps(now).filter(|_| !shards.is_empty()) else {
            return Ok(Waiting::default());
        };
        let mut waiting = Waiting::default();
        for (shard, epoch) in self.held.trusted().into_iter().filter(|(shard, _)| shards.contains(shard)) {
            let late = self.cx.store.runs().late_starts(shard, epoch, &paused, now).await?;
            waiting.may_lack |= late.len() >= MOST_LATE;
            waiting.late.extend(late);
        }
        Ok(waiting)
    }

    /// Raises and closes alarms; answers how many were raised.
    async fn write(&self, waiting: &Waiting, started: &HashMap<i64, JobStarts>, now: Millis) -> store::Result<usize> {
        let alarms = self.cx.store.alarms();
        let mut late: Vec<_> = waiting.late.iter().map(|run| (*run, None)).collect();
        late.extend(started.values().filter_map(|job| job.late).map(|(run, sent_at)| (run, Some(sent_at))));
        let raised = if late.is_empty() { vec![] } else { alarms.raise_late_starts(&late, now).await? };
        raised.iter().for_each(|alarm| self.cx.log_alarm(alarm));
        let waits: HashSet<i64> = waiting.late.iter().map(|run| run.job_id).collect();
        let is_over = |(job_id, job): &(&i64, &JobStarts)| job.is_met && !waiting.may_lack && !waits.contains(job_id);
        let mut over: Vec<i64> = started.iter().filter(is_over).map(|(job_id, _)| *job_id).collect();
        // Most jobs start in time and have no alarm: the ids of all of them would be a long list for nothing.
        if !over.is_empty() {
            let open: HashSet<i64> = alarms.jobs_with_late_start().await?.into_iter().collect();
            over.retain(|job_id| open.contains(job_id));
        }
        if !over.is_empty() {
            alarms.close_late_starts(&over, now).await?;
        }
        Ok(raised.len())
    }
}

impl Service for StartWatcher {
    const NAME: &'static str = "watch starts";
    /// Alarms that were raised.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let did = self.round().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "the starts of runs could not be compared with the objectives of their jobs; the next round goes on");
            0
        });
        Step { did, next: EVERY }
    }
}
