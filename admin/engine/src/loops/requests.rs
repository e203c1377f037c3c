//! What the granter says to executors: to all of them at once, to each for a limited time, so that a hung one holds up no loop of another.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::{LoopGrant, LoopStop};
use carillon_store as store;
use carillon_store::lease::loops::{Grant, LoopLease};
use futures_util::StreamExt;
use futures_util::stream::iter;
use tokio::time::{Instant, timeout_at};

use crate::executor::outcome::{Outcome, unknown};
use crate::executor::request::own_params;
use crate::job_cache::CachedJob;
use crate::loops::granter::LoopGranter;
use crate::loops::lease::LOOP_LEASE;
use crate::loops::reports::cut_report;

/// How long one executor may take in a round.
const LIMIT: Duration = Duration::from_secs(1);
/// Executors that are asked at once, and requests to one of them.
const AT_ONCE: usize = 32;
/// An executor that has refused a loop is not asked again for this long.
const REFUSED_FOR: Duration = Duration::from_secs(10);

impl LoopGranter {
    /// Answers how many have confirmed. The others may fire until their leases are over.
    pub(super) async fn stop_all(&self, leases: Vec<LoopLease>) -> store::Result<usize> {
        let may_go_on = |lease: &LoopLease| lease.is_stopped && lease.expires_at > 0;
        let leases: Vec<LoopLease> = leases.into_iter().filter(may_go_on).collect();
        let mut apps: HashMap<i64, String> = HashMap::new();
        for lease in &leases {
            if !apps.contains_key(&lease.app_id)
                && let Some(app) = self.cx.store.apps().get(lease.app_id).await?
            {
                apps.insert(lease.app_id, app.name);
            }
        }
        let named = |lease: LoopLease| apps.get(&lease.app_id).cloned().map(|app| (lease, app));
        let stops: Vec<(LoopLease, String)> = leases.into_iter().filter_map(named).collect();
        let lists = by_address(stops, |(lease, _)| &lease.address);
        let stopped = iter(lists).map(|list| self.stop_at(list)).buffer_unordered(AT_ONCE);
        Ok(stopped.collect::<Vec<usize>>().await.into_iter().sum())
    }

    /// Ends loops of one executor.
    async fn stop_at(&self, stops: Vec<(LoopLease, String)>) -> usize {
        let until = Instant::now() + LIMIT;
        let stopped = iter(stops).map(|(lease, app)| self.stop(lease, app, until)).buffer_unordered(AT_ONCE);
        stopped.collect::<Vec<bool>>().await.into_iter().filter(|is_stopped| *is_stopped).count()
    }

    async fn stop(&self, lease: LoopLease, app: String, until: Instant) -> bool {
        let job_id = i32::try_from(lease.job_id).unwrap_or(i32::MAX);
        let stop = LoopStop { job_id, epoch: lease.epoch, boot_id: lease.boot_id.clone() };
        let answer = in_time(until, self.client.stop_loop(&lease.address, &app, &stop)).await;
        let report = match answer.unwrap_or_else(|| Err("no answer in time".to_owned())) {
            Ok(report) => report.and_then(|it| cut_report(&it)).unwrap_or_else(|| lease.report.clone()),
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

    /// The grants are committed: only now may they be sent. Those that were not taken go to other executors.
    pub(super) async fn send_all(&self, grants: Vec<(Grant, Arc<CachedJob>)>) -> usize {
        let count = grants.len();
        let lists = by_address(grants, |(grant, _)| &grant.address);
        let sent = iter(lists).map(|list| self.send_to(list)).buffer_unordered(AT_ONCE);
        let untaken = sent.collect::<Vec<_>>().await.concat();
        if untaken.is_empty() {
            return count;
        }
        match self.cx.store.loops().give_up(&untaken).await {
            Ok(()) => self.wake.notify_one(),
            Err(error) => tracing::warn!(%error, "loops that were not taken wait for the ends of their leases"),
        }
        count
    }

    /// Sends grants to one executor. Answers the jobs and epochs of those that it has not taken, as far as is known.
    async fn send_to(&self, grants: Vec<(Grant, Arc<CachedJob>)>) -> Vec<(i64, i64)> {
        let until = Instant::now() + LIMIT;
        let sent = iter(grants).map(|(grant, job)| self.send(grant, job, until)).buffer_unordered(AT_ONCE);
        sent.collect::<Vec<_>>().await.into_iter().flatten().collect()
    }

    async fn send(&self, grant: Grant, job: Arc<CachedJob>, until: Instant) -> Option<(i64, i64)> {
        let Grant { lease, address, boot_id, .. } = grant;
        let (job_id, epoch) = (lease.job_id, lease.epoch + 1);
        let request = LoopGrant {
            job_id: i32::try_from(job_id).unwrap_or(i32::MAX),
            epoch,
            handler: job.stored.handler.clone(),
            params: own_params(&job),
            timeout_seconds: job.stored.timeout_seconds,
        };
        let answer = in_time(until, self.client.start_loop(&address, &job.stored.app, &request)).await;
        let outcome = answer.unwrap_or_else(|| unknown("no answer in time".to_owned()));
        if outcome == Outcome::Accepted {
            self.cx.metrics.loop_grants.inc();
            tracing::info!(job.id = job_id, lease.epoch = epoch, executor.address = address, "a loop was granted");
            return None;
        }
        let now = self.cx.clock.monotonic();
        let is_unknown = matches!(outcome, Outcome::Unknown { .. });
        if is_unknown {
            self.passed_over.lapse(&boot_id, now);
        }
        let pause = if is_unknown { LOOP_LEASE } else { REFUSED_FOR };
        self.passed_over.refuse(job_id, &address, now + pause);
        tracing::warn!(
            job.id = job_id,
            lease.epoch = epoch,
            executor.address = address,
            reason = outcome.into_reason(),
            "a loop was not taken"
        );
        Some((job_id, epoch))
    }
}

/// The answer, if it comes until then; after that nothing is asked.
async fn in_time<T>(until: Instant, answer: impl Future<Output = T>) -> Option<T> {
    if Instant::now() >= until {
        return None;
    }
    timeout_at(until, answer).await.ok()
}

fn by_address<T>(all: Vec<T>, address: impl Fn(&T) -> &str) -> Vec<Vec<T>> {
    let mut lists: HashMap<String, Vec<T>> = HashMap::new();
    for it in all {
        lists.entry(address(&it).to_owned()).or_default().push(it);
    }
    lists.into_values().collect()
}
