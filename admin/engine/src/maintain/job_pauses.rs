//! Pauses of jobs begin and end by themselves: after failures in a row, and at the time that was noted. The holder of the first
//! shard does it for all; it asks for two short lists, and never walks the jobs.

use std::sync::Arc;

use crate::context::Context;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::plan::wakes::ScanWakes;
use carillon_store as store;
use carillon_store::Actor;
use carillon_store::job::change::JobChange;

pub struct JobPauses {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub clock_guard: Arc<ClockGuard>,
    pub wakes: Arc<ScanWakes>,
}

impl JobPauses {
    /// Answers how many jobs were paused or resumed.
    pub async fn round(&self) -> store::Result<usize> {
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
