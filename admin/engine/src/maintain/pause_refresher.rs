//! Once a second: reads the pauses of apps; starts the pauses of jobs that failed too often in a row and ends those whose time is over.
//! The holder of the first shard does it for all jobs; it asks for two short lists, and never walks the jobs.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::context::Context;
use crate::dispatch::app_pauses::AppPauses;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Service, Step};
use carillon_store as store;
use carillon_store::Actor;
use carillon_store::job::change::JobChange;

const EVERY: Duration = Duration::from_secs(1);

pub struct PauseRefresher {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub clock_guard: Arc<ClockGuard>,
    pub wakes: Arc<ScanWakes>,
    pub pauses: Arc<AppPauses>,
    /// The apps that were paused in the last round; None: all.
    pub in_force: Mutex<Option<Vec<i64>>>,
}

impl Service for PauseRefresher {
    const NAME: &'static str = "pauses";
    /// Jobs that were paused or resumed.
    type Report = usize;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.pauses.changed.clone())
    }

    async fn step(&self) -> Step<usize> {
        if let Err(error) = self.pauses.refresh().await {
            tracing::warn!(%error, "the pauses of apps could not be read; the last ones stay in force");
        }
        self.wake_scans();
        let did = self.round().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the pauses of jobs could not be looked at; the next round goes on");
            0
        });
        Step { did, next: EVERY }
    }
}

impl PauseRefresher {
    /// What waits for the end of a pause as a delayed trigger is found by a scan.
    fn wake_scans(&self) {
        let in_force = self.pauses.paused_apps(self.cx.clock.now());
        let before = std::mem::replace(&mut *self.in_force.lock(), in_force.clone());
        if before != in_force {
            self.held.shards().into_iter().for_each(|shard| self.wakes.wake(shard));
        }
    }

    /// Answers how many jobs were paused or resumed.
    async fn round(&self) -> store::Result<usize> {
        if !self.held.has_first() || self.clock_guard.is_suspect() {
            return Ok(0);
        }
        let (store, now) = (&self.cx.store, self.cx.clock.now());
        let mut done = 0;
        for job_id in store.jobs().ended_pauses(now).await? {
            done += self.change(job_id, &JobChange::EndOfPause).await?;
        }
        for job_id in store.jobs().failing_too_often().await? {
            done += self.change(job_id, &JobChange::PauseFailing).await?;
        }
        Ok(done)
    }

    async fn change(&self, job_id: i64, change: &JobChange) -> store::Result<usize> {
        match self.cx.store.jobs().change(job_id, change, self.cx.clock.now(), &Actor::engine()).await {
            Ok(changed) => {
                if let Some(alarm) = &changed.alarm {
                    self.cx.log_alarm(alarm);
                }
                self.wakes.wake(changed.job.shard);
                Ok(changed.is_changed.into())
            }
            Err(store::Error::Missing(_)) => Ok(0),
            Err(store::Error::Invalid(error)) => {
                // It would be tried again each second.
                let reason = format!("its pause is over, and its schedule cannot be used: {error}");
                let alarm = self.cx.store.jobs().stay_paused(job_id, &reason, self.cx.clock.now()).await?;
                self.cx.log_alarm(&alarm);
                Ok(0)
            }
            Err(error) if error.is_outage() => Err(error),
            Err(error) => {
                // The other jobs go on, also if another session holds the row of this one.
                tracing::warn!(job.id = job_id, %error, "the pause of a job could not be changed; the next round tries again");
                Ok(0)
            }
        }
    }
}
