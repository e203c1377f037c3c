//! Holds this node's fair share of the shards: the lock first, then the epoch in the database.
//!
//! A shard is worked only while its lease is trusted, which is less time than it lasts and is counted from before the
//! request. A shard in doubt is stepped down from: its rows are there for the node that passes the gate next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use carillon_scheduler::{AlarmKind, Millis, fair_share};
use futures_util::{StreamExt as _, stream};
use tokio::sync::Notify;

use crate::context::Context;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::degraded::LockHealth;
use crate::lease::epochs::EpochGuard;
use crate::lease::held_shards::HeldShards;
use crate::lease::stalled_shards::StalledShards;
use crate::lease::version_skew::VersionSkew;
use crate::runtime::{Backoff, Service, Step};
use crate::settings::ms;
use carillon_store as store;
use carillon_store::lease::leases::Lease;

/// Statements about leases at once: one whose row is locked by another session must not hold up the others.
const MAX_CONCURRENT: usize = 4;

pub(crate) async fn few_at_once(statements: Vec<impl Future<Output = ()>>) {
    stream::iter(statements).buffer_unordered(MAX_CONCURRENT).collect::<Vec<()>>().await;
}

pub struct LeaseCoordinator {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) clock_guard: Arc<ClockGuard>,
    pub(crate) locks: Arc<LockHealth>,
    pub(crate) epochs: EpochGuard,
    pub(crate) skew: VersionSkew,
    /// Where this node listens.
    pub(crate) address: String,
    /// Another live node is there to take over.
    pub(crate) has_peers: AtomicBool,
    /// Nothing new is taken any more.
    pub(crate) stopping: AtomicBool,
    /// Another node was faster in this round.
    pub(crate) refused: AtomicBool,
    pub(crate) stalled: Arc<StalledShards>,
    pub(crate) backoff: Backoff,
}

/// What a round changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeaseReport {
    pub held: usize,
    pub taken: usize,
    pub lost: usize,
}

impl LeaseCoordinator {
    /// Is another live node there to take over?
    pub fn has_peers(&self) -> bool {
        self.has_peers.load(Ordering::Relaxed)
    }

    async fn round(&self) -> store::Result<()> {
        let now = self.cx.clock.now();
        self.locks.begin();
        self.refused.store(false, Ordering::Relaxed);
        if self.clock_guard.has_failed() {
            // A node that is counted gets a share, and this one would leave it undone.
            self.cx.store.leases().retire_node(&self.cx.node).await?;
            self.locks.end(&self.held, &self.cx.metrics).await;
            return Ok(());
        }
        // First: on a slow database each of the other statements takes time that a lease may not have.
        self.renew().await;
        self.cx.store.leases().report_node(&self.cx.node, &self.address, now).await?;
        let leases = self.cx.store.leases().list().await?;
        self.held.set_total(i32::try_from(leases.len()).unwrap_or(i32::MAX));
        self.compare(&leases).await;
        let wanted = self.share(now).await?;
        self.hand_back(&wanted).await;
        if !self.stopping.load(Ordering::Relaxed) {
            self.take(&wanted, &leases, now).await;
            self.check_scans(&wanted, &leases, now).await?;
        }
        self.locks.end(&self.held, &self.cx.metrics).await;
        self.cx.metrics.shards_held.set(self.held.shards().len() as i64);
        Ok(())
    }

    /// The same answer on every node that sees the same nodes.
    async fn share(&self, now: Millis) -> store::Result<BTreeSet<i32>> {
        let node = self.cx.node.as_str();
        let live = self.cx.store.leases().live_nodes(now - ms(self.cx.settings.lease_ttl)).await?;
        self.has_peers.store(live.iter().any(|other| other.id != node), Ordering::Relaxed);
        self.skew.compare(&self.cx, &live);
        let ids: Vec<&str> = live.iter().map(|node| node.id.as_str()).collect();
        let mut shares = fair_share(self.held.total(), &ids);
        Ok(shares.remove(node).unwrap_or_default().into_iter().collect())
    }

    /// Steps down from what is not ours any more, without waiting for a statement to be refused.
    async fn compare(&self, leases: &[Lease]) {
        let held = self.held.all();
        let back: Vec<String> = leases
            .iter()
            .filter_map(|lease| {
                let before = self.epochs.regressed(lease)?;
                Some(format!("shard {} has epoch {} after {before}", lease.shard, lease.epoch))
            })
            .collect();
        if !back.is_empty() {
            let text = format!(
                "the database went backwards: {}. An older state of it was restored, and what was recorded since is lost: \
                 fires may repeat. These shards stand still until `carillon resync`",
                back.join(", ")
            );
            self.cx.raise_alarm(AlarmKind::Database, None, None, text).await;
        }
        self.cx.metrics.shards_stopped.set(self.epochs.stopped() as i64);
        let now: BTreeMap<i32, &Lease> = leases.iter().map(|lease| (lease.shard, lease)).collect();
        for (shard, held) in held {
            if now.get(&shard).is_none_or(|lease| lease.epoch != held.epoch) {
                self.held.fence(shard, held.epoch);
            }
        }
        for (shard, epoch) in self.held.all_mark_only() {
            match now.get(&shard) {
                Some(lease) if lease.epoch == epoch && lease.expires_at == 0 => {}
                // The statement that gave it back has failed.
                Some(lease) if lease.epoch == epoch => self.release(shard, epoch).await,
                _ => self.held.let_go(shard),
            }
        }
    }

    /// Surplus goes back one a round: otherwise all nodes would take many shards at once when a node joins. What is due before
    /// its next holder has it goes on being marked here.
    async fn hand_back(&self, wanted: &BTreeSet<i32>) {
        let surplus = self.held.all().into_iter().find(|(shard, _)| !wanted.contains(shard));
        if let Some((shard, held)) = surplus {
            self.held.hand_over(shard, held.epoch);
            self.release(shard, held.epoch).await;
            self.locks.lock.release(&[shard]).await;
        }
    }

    pub(crate) async fn release(&self, shard: i32, epoch: i64) {
        if let Err(error) = self.cx.store.leases().release(shard, epoch).await {
            tracing::warn!(shard, %error, "the lease was not given back yet");
        }
    }
}

impl Service for LeaseCoordinator {
    const NAME: &'static str = "lease";
    type Report = LeaseReport;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.held.fenced.clone())
    }

    async fn step(&self) -> Step<LeaseReport> {
        let before = self.held.shards();
        let done = self.round().await;
        let after = self.held.shards();
        let missing = |from: &[i32], of: &[i32]| of.iter().filter(|shard| !from.contains(shard)).count();
        let did = LeaseReport { held: after.len(), taken: missing(&before, &after), lost: missing(&after, &before) };
        let every = self.cx.settings.scan_every;
        let next = match done {
            Err(error) => {
                tracing::warn!(%error, "shards could not be looked after; the next round goes on");
                self.backoff.failed()
            }
            Ok(()) => {
                self.backoff.succeeded();
                match self.refused.load(Ordering::Relaxed) {
                    // Out of step with the node that was faster.
                    true => every.mul_f64(rand::random_range(0.5..1.5)),
                    false => every,
                }
            }
        };
        Step { did, next }
    }
}
