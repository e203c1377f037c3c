//! The holder of a shard gives its loops to executors, each when no other may still fire it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::{LoopGrant, LoopStop};
use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::lease::loops::{Grant, LoopEnd, LoopLease};
use futures_util::StreamExt;
use futures_util::stream::iter;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::context::Context;
use crate::dispatch::app_pauses::AppPauses;
use crate::dispatch::route::router::Router;
use crate::executor::client::ExecutorClient;
use crate::executor::directory::{Candidate, ExecutorDirectory};
use crate::executor::outcome::Outcome;
use crate::executor::request::own_params;
use crate::job_cache::{CachedJob, JobCache};
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::loops::totals::kept_totals;
use crate::loops::watch::LoopWatch;
use crate::runtime::{Service, Step};
use crate::settings::ms;

/// How long an executor has a loop after a renewal.
pub(crate) const LOOP_LEASE: Duration = Duration::from_secs(5);
const EVERY: Duration = Duration::from_secs(1);
/// The clock of this node may be ahead of the database's by some ms: without this a look would come before the end of a lease.
const AFTER_END: Duration = Duration::from_millis(20);
/// Requests to executors at once.
const AT_ONCE: usize = 32;
/// An executor that has refused a loop is not asked again for this long.
const REFUSED_FOR: Duration = Duration::from_secs(10);

pub struct LoopGranter {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) clock_guard: Arc<ClockGuard>,
    pub(crate) jobs: Arc<JobCache>,
    pub(crate) pauses: Arc<AppPauses>,
    pub(crate) router: Arc<Router>,
    pub(crate) directory: Arc<ExecutorDirectory>,
    pub(crate) client: Arc<ExecutorClient>,
    pub(crate) watch: LoopWatch,
    /// By job and address: until when it is passed over.
    pub(crate) refused: Mutex<HashMap<(i64, String), Duration>>,
    /// A loop was given back.
    pub(crate) wake: Arc<Notify>,
}

impl Service for LoopGranter {
    const NAME: &'static str = "loops";
    /// Loops that were granted or stopped.
    type Report = usize;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.wake.clone())
    }

    async fn step(&self) -> Step<usize> {
        self.round().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "loops could not be looked at; the next round goes on");
            Step::after(EVERY)
        })
    }
}

impl LoopGranter {
    async fn round(&self) -> store::Result<Step<usize>> {
        let shards: Vec<i64> = self.held.shards().into_iter().map(i64::from).collect();
        if shards.is_empty() {
            self.cx.metrics.loops.set(0);
        }
        if shards.is_empty() || self.clock_guard.is_suspect() {
            return Ok(Step::after(EVERY));
        }
        let ends = self.cx.store.loops().ends(&shards).await?;
        let mut did = self.take_back(&ends).await?;
        did += self.confirm_stops(&ends).await?;
        let now = self.cx.clock.now();
        if did > 0 || ends.iter().any(|end| end.is_wanted && end.expires_at <= now) {
            let free = self.cx.store.loops().free(&shards, now).await?;
            did += self.grant(&free).await?;
        }
        self.watch.look(&shards).await?;
        Ok(Step { did, next: next_look(&ends, self.cx.clock.now()) })
    }

    /// Ends the grants of executors that are draining, and of apps that are paused.
    async fn take_back(&self, ends: &[LoopEnd]) -> store::Result<usize> {
        let granted: Vec<i64> = ends.iter().filter(|end| !end.is_stopped).map(|end| end.job_id).collect();
        if granted.is_empty() {
            return Ok(0);
        }
        let jobs = self.jobs.current(&granted).await?;
        let is_draining = |end: &LoopEnd| {
            let app = jobs.get(&end.job_id).map(|job| job.stored.app.as_str()).unwrap_or_default();
            let live = self.directory.live(app);
            live.iter().any(|it| it.is_draining() && it.boot_id.as_deref() == Some(&*end.boot_id))
        };
        let is_taken = |end: &&LoopEnd| !end.is_stopped && (self.is_paused(end.app_id) || is_draining(end));
        let taken: Vec<i64> = ends.iter().filter(is_taken).map(|end| end.job_id).collect();
        if taken.is_empty() {
            return Ok(0);
        }
        let stopped = self.cx.store.loops().stop(&taken).await?;
        Ok(self.stop_all(stopped).await)
    }

    /// Asks executors to confirm that they have stopped what was taken from them, by a change of the job or here.
    async fn confirm_stops(&self, ends: &[LoopEnd]) -> store::Result<usize> {
        let now = self.cx.clock.now();
        let is_stopping = |end: &&LoopEnd| end.is_stopped && end.expires_at > now;
        let stopping: Vec<i64> = ends.iter().filter(is_stopping).map(|end| end.job_id).collect();
        if stopping.is_empty() {
            return Ok(0);
        }
        let leases = self.cx.store.loops().of_jobs(&stopping).await?;
        Ok(self.stop_all(leases).await)
    }

    /// Answers how many have confirmed. The others may fire until their leases are over.
    async fn stop_all(&self, leases: Vec<LoopLease>) -> usize {
        let may_go_on = |lease: &LoopLease| lease.is_stopped && lease.expires_at > 0;
        let leases: Vec<LoopLease> = leases.into_iter().filter(may_go_on).collect();
        let stopped = iter(leases).map(|lease| self.stop(lease)).buffer_unordered(AT_ONCE);
        stopped.collect::<Vec<bool>>().await.into_iter().filter(|is_stopped| *is_stopped).count()
    }

    async fn stop(&self, lease: LoopLease) -> bool {
        let Ok(Some(app)) = self.cx.store.apps().get(lease.app_id).await else { return false };
        let job_id = i32::try_from(lease.job_id).unwrap_or(i32::MAX);
        let stop = LoopStop { job_id, epoch: lease.epoch, boot_id: lease.boot_id.clone() };
        let report = match self.client.stop_loop(&lease.address, &app.name, &stop).await {
            Ok(report) => report.unwrap_or_else(|| lease.report.clone()),
            Err(reason) => {
                tracing::debug!(
                    job.id = lease.job_id,
                    executor.address = lease.address,
                    reason,
                    "a loop could not be stopped yet"
                );
                return false;
            }
        };
        let confirmed =
            self.cx.store.loops().confirm_stop(lease.job_id, lease.epoch, &report, self.cx.clock.now()).await;
        confirmed
            .inspect_err(|error| tracing::warn!(%error, job.id = lease.job_id, "the stop of a loop could not be noted"))
            .is_ok()
    }

    async fn grant(&self, free: &[i64]) -> store::Result<usize> {
        if free.is_empty() {
            return Ok(0);
        }
        let jobs = self.jobs.current(free).await?;
        let long = self.jobs.with_params(jobs.values()).await?;
        let leases = self.cx.store.loops().of_jobs(free).await?;
        let mut grants = vec![];
        for lease in leases {
            let Some(job) = long.get(&lease.job_id).or_else(|| jobs.get(&lease.job_id)) else { continue };
            if self.is_paused(job.stored.app_id) {
                continue;
            }
            if let Some(executor) = self.choose(job) {
                grants.push((self.new_grant(lease, job, &executor), job.clone()));
            }
        }
        let wanted: Vec<Grant> = grants.iter().map(|(grant, _)| grant.clone()).collect();
        let granted = self.cx.store.loops().grant(&wanted, self.cx.clock.now(), ms(LOOP_LEASE)).await?;
        grants.retain(|(grant, _)| granted.contains(&grant.lease.job_id));
        Ok(iter(grants).map(|(grant, job)| self.send(grant, job)).buffer_unordered(AT_ONCE).count().await)
    }

    fn new_grant(&self, lease: LoopLease, job: &CachedJob, executor: &Candidate) -> Grant {
        Grant {
            app_id: job.stored.app_id,
            address: executor.address.clone(),
            boot_id: executor.boot_id.clone().unwrap_or_default(),
            counters: kept_totals(&lease),
            lease,
        }
    }

    /// The grant is committed: only now may it be sent. What becomes of an unclear one, its lease shows.
    async fn send(&self, grant: Grant, job: Arc<CachedJob>) {
        let Grant { lease, address, .. } = grant;
        let (job_id, epoch) = (lease.job_id, lease.epoch + 1);
        let request = LoopGrant {
            job_id: i32::try_from(job_id).unwrap_or(i32::MAX),
            epoch,
            handler: job.stored.handler.clone(),
            params: own_params(&job),
            timeout_seconds: job.stored.timeout_seconds,
        };
        let outcome = self.client.start_loop(&address, &job.stored.app, &request).await;
        match outcome {
            Outcome::Accepted => {
                self.cx.metrics.loop_grants.inc();
                tracing::info!(job.id = job_id, epoch, executor.address = address, "a loop was granted")
            }
            Outcome::Unknown { why } => {
                tracing::warn!(
                    job.id = job_id,
                    epoch,
                    executor.address = address,
                    reason = why,
                    "it is not known whether a loop was taken"
                );
            }
            // It has not begun there.
            refused => {
                tracing::warn!(
                    job.id = job_id,
                    epoch,
                    executor.address = address,
                    reason = refused.into_reason(),
                    "a loop was not taken"
                );
                let until = self.cx.clock.monotonic() + REFUSED_FOR;
                self.refused.lock().insert((job_id, address), until);
                self.give_up(job_id, epoch).await;
            }
        }
    }

    /// A grant that its executor has refused blocks no other.
    async fn give_up(&self, job_id: i64, epoch: i64) {
        let loops = self.cx.store.loops();
        let given_up = match loops.stop(&[job_id]).await {
            Ok(_) => loops.confirm_stop(job_id, epoch + 1, "", self.cx.clock.now()).await,
            Err(error) => Err(error),
        };
        if let Err(error) = given_up {
            tracing::warn!(%error, job.id = job_id, "a loop that was refused waits for the end of its lease");
        }
    }

    /// By the route of the job, but none that has refused it lately.
    fn choose(&self, job: &CachedJob) -> Option<Candidate> {
        let now = self.cx.clock.monotonic();
        let mut refused = self.refused.lock();
        refused.retain(|_, until| *until > now);
        let has_refused = |it: &Candidate| refused.contains_key(&(job.stored.job_id, it.address.clone()));
        self.router.for_loop(job).into_iter().find(|candidate| !has_refused(candidate))
    }

    fn is_paused(&self, app_id: i64) -> bool {
        let paused = self.pauses.paused_apps(self.cx.clock.now());
        paused.is_none_or(|apps| apps.contains(&app_id))
    }
}

/// In a second, or when the first lease is over.
fn next_look(ends: &[LoopEnd], now: Millis) -> Duration {
    let ahead = ends.iter().filter(|end| end.is_wanted).map(|end| end.expires_at).filter(|at| *at > now);
    let first = ahead.min().map(|at| Duration::from_millis((at - now).unsigned_abs()) + AFTER_END);
    first.unwrap_or(EVERY).min(EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_is_at_the_end_of_a_lease() {
        let end = |expires_at, is_wanted| LoopEnd {
            job_id: 1,
            app_id: 1,
            expires_at,
            is_wanted,
            boot_id: "a".into(),
            is_stopped: false,
        };
        let now = 1_760_000_000_000;
        assert_eq!(next_look(&[], now), EVERY);
        assert_eq!(next_look(&[end(now + 5_000, true), end(0, true)], now), EVERY);
        assert_eq!(next_look(&[end(now + 5_000, true), end(now + 300, true)], now), Duration::from_millis(320));
        assert_eq!(next_look(&[end(now + 300, false)], now), EVERY);
    }
}
