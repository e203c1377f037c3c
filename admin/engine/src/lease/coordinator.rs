//! Holds this node's fair share of the shards: the lock first, then the epoch in the database.
//!
//! A shard is worked only while its lease is trusted, which is less time than it lasts and is counted from before the
//! request. Whatever is in doubt is stepped down from: its rows are there for whoever passes the gate next.

use crate::lease::degraded;
use crate::lease::epochs;
use crate::lease::version_skew;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::{Millis, fair_share};
use futures_util::{StreamExt as _, stream};
use tokio::sync::Notify;

use crate::Pipeline;
use crate::plan::backoff::Backoff;
use crate::runtime::Service;
use crate::settings::ms;
use crate::store;

/// Statements about leases at once: one whose row somebody has locked must not hold up the others.
const AT_ONCE: usize = 4;

pub(crate) async fn few_at_once(statements: Vec<impl Future<Output = ()>>) {
    stream::iter(statements).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}

pub struct Shards {
    pub pipeline: Arc<Pipeline>,
    pub(crate) locks: degraded::Locks,
    pub(crate) watch: epochs::Watch,
    skew: version_skew::Skew,
    /// Nothing new is taken any more.
    pub(crate) stopping: AtomicBool,
    /// Somebody else was quicker in this round.
    pub(crate) refused: AtomicBool,
    backoff: Backoff,
}

impl Shards {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self {
            pipeline,
            locks: degraded::Locks::default(),
            watch: epochs::Watch::default(),
            skew: version_skew::Skew::default(),
            stopping: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            backoff: Backoff::default(),
        }
    }

    async fn round(&self) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let now = pipeline.clock.now();
        self.locks.begin();
        self.refused.store(false, Ordering::Relaxed);
        if pipeline.clock_is_lost.load(Ordering::Relaxed) {
            // Nobody may count on this node, or its share would be worked by nobody.
            pipeline.store.retire_node(&pipeline.node).await?;
            self.locks.end(pipeline).await;
            return Ok(());
        }
        // First: on a slow database each of the other statements takes time that a lease may not have.
        self.renew().await;
        pipeline.store.report_node(&pipeline.node, &pipeline.address(), now).await?;
        let leases = pipeline.store.leases().await?;
        pipeline.follow_shards(i32::try_from(leases.len()).unwrap_or(i32::MAX));
        self.compare(&leases).await;
        let wanted = self.share(now).await?;
        self.hand_back(&wanted).await;
        if !self.stopping.load(Ordering::Relaxed) {
            self.take(&wanted, &leases, now).await;
        }
        self.locks.end(pipeline).await;
        let held = pipeline.holdings.all();
        pipeline.metrics.shards_held.set(held.len() as i64);
        Ok(())
    }

    /// The same answer on every node that sees the same nodes.
    async fn share(&self, now: Millis) -> store::Result<BTreeSet<i32>> {
        let pipeline = &self.pipeline;
        let live = pipeline.store.live_nodes(now - ms(pipeline.settings.ttl)).await?;
        pipeline.peers.store(live.iter().any(|node| node.id != pipeline.node), Ordering::Relaxed);
        self.skew.compare(pipeline, &live);
        let ids: Vec<&str> = live.iter().map(|node| node.id.as_str()).collect();
        let mut shares = fair_share(pipeline.shards(), &ids);
        Ok(shares.remove(pipeline.node.as_str()).unwrap_or_default().into_iter().collect())
    }

    /// Surplus goes back one a round, so that no herd starts when a node joins. What is due before its next holder has it
    /// goes on being marked here.
    async fn hand_back(&self, wanted: &BTreeSet<i32>) {
        let surplus = self.pipeline.holdings.all().into_iter().find(|(shard, _)| !wanted.contains(shard));
        if let Some((shard, held)) = surplus {
            self.pipeline.holdings.hand_over(shard, held.epoch);
            self.release(shard, held.epoch).await;
            self.pipeline.leases.release(&[shard]).await;
        }
    }

    pub(crate) async fn release(&self, shard: i32, epoch: i64) {
        if let Err(error) = self.pipeline.store.release_shard(shard, epoch).await {
            tracing::warn!(shard, %error, "the lease was not given back yet");
        }
    }

    pub(crate) fn trust(&self) -> Duration {
        self.pipeline.settings.ttl - self.pipeline.settings.margin
    }
}

#[async_trait]
impl Service for Shards {
    fn name(&self) -> &'static str {
        "shards"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.pipeline.shards_wake.clone())
    }

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, "shards could not be looked after; the next round goes on");
            return self.backoff.failed();
        }
        self.backoff.succeeded();
        let every = self.pipeline.settings.scan_every;
        match self.refused.load(Ordering::Relaxed) {
            // Not in step with whoever was quicker.
            true => every.mul_f64(rand::random_range(0.5..1.5)),
            false => every,
        }
    }
}
