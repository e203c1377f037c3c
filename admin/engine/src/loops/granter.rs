//! The holder of a shard gives its loops to executors, each when no other may still fire it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::lease::loops::{Grant, LoopEnd, LoopLease};
use tokio::sync::Notify;

use crate::context::Context;
use crate::dispatch::app_pauses::AppPauses;
use crate::dispatch::route::router::Router;
use crate::executor::client::ExecutorClient;
use crate::executor::directory::{Candidate, ExecutorDirectory};
use crate::job_cache::{CachedJob, JobCache};
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::loops::lease::LOOP_LEASE;
use crate::loops::passed_over::PassedOver;
use crate::loops::totals::kept_totals;
use crate::loops::watch::LoopWatch;
use crate::runtime::{Service, Step};
use crate::settings::ms;

const EVERY: Duration = Duration::from_secs(1);
/// The clock of this node may be ahead of the database's by some ms: without this a look would come before the end of a lease.
const AFTER_END: Duration = Duration::from_millis(20);
/// Loops that one executor gets in a round.
const MOST: usize = 256;

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
    pub(crate) passed_over: PassedOver,
    /// A loop was given back, or was not taken.
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
        let apps: HashSet<&str> = jobs.values().map(|job| job.stored.app.as_str()).collect();
        let draining = apps.into_iter().flat_map(|app| self.directory.live(app)).filter(|it| it.is_draining());
        let draining: HashSet<String> = draining.filter_map(|it| it.boot_id.clone()).collect();
        let is_taken =
            |end: &&LoopEnd| !end.is_stopped && (self.is_paused(end.app_id) || draining.contains(&end.boot_id));
        let taken: Vec<(i64, i64)> = ends.iter().filter(is_taken).map(|end| (end.job_id, end.epoch)).collect();
        if taken.is_empty() {
            return Ok(0);
        }
        let stopped = self.cx.store.loops().stop(&taken).await?;
        self.stop_all(stopped).await
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
        self.stop_all(leases).await
    }

    async fn grant(&self, free: &[i64]) -> store::Result<usize> {
        // An executor trusts its lease by its own clocks, which have not jumped.
        if free.is_empty() || self.clock_guard.has_stepped_within(LOOP_LEASE) {
            return Ok(0);
        }
        let mut leases = self.cx.store.loops().of_jobs(free).await?;
        // The database's clock may have jumped already, and this one not yet.
        leases.retain(|lease| lease.expires_at <= self.cx.clock.now());
        self.pass_over(&leases);
        // Read after the leases: an edit that comes between changes the epoch, and nothing is granted.
        let jobs = self.jobs.current(free).await?;
        let long = self.jobs.with_params(jobs.values()).await?;
        let mut grants = vec![];
        let mut counts: HashMap<String, usize> = HashMap::new();
        for lease in leases {
            let Some(job) = long.get(&lease.job_id).or_else(|| jobs.get(&lease.job_id)) else { continue };
            if self.is_paused(job.stored.app_id) {
                continue;
            }
            if let Some(executor) = self.choose(job) {
                let count = counts.entry(executor.address.clone()).or_default();
                *count += 1;
                if *count > MOST {
                    continue;
                }
                grants.push((self.new_grant(lease, job, &executor), job.clone()));
            }
        }
        let wanted: Vec<Grant> = grants.iter().map(|(grant, _)| grant.clone()).collect();
        let granted = self.cx.store.loops().grant(&wanted, self.cx.clock.now(), ms(LOOP_LEASE)).await?;
        if !granted.is_empty() && counts.values().any(|count| *count > MOST) {
            self.wake.notify_one();
        }
        let granted: HashSet<i64> = granted.into_iter().collect();
        grants.retain(|(grant, _)| granted.contains(&grant.lease.job_id));
        Ok(self.send_all(grants).await)
    }

    /// A lease that ran out was not given back: its executor does not answer, or cannot reach a node.
    fn pass_over(&self, leases: &[LoopLease]) {
        let now = self.cx.clock.monotonic();
        for lease in leases.iter().filter(|lease| lease.expires_at > 0) {
            self.passed_over.lapse(&lease.boot_id, now);
        }
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

    /// By the route of the job.
    fn choose(&self, job: &CachedJob) -> Option<Candidate> {
        let name = |it: &Candidate| (it.address.clone(), it.boot_id.clone().unwrap_or_default());
        let candidates = self.router.for_loop(job);
        self.passed_over.choose(job.stored.job_id, candidates, name, self.cx.clock.monotonic())
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
            epoch: 1,
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
