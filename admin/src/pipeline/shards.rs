//! Holds this node's fair share of the shards: the lock first, then the epoch in the database.
//!
//! A shard is worked only while its lease is trusted, which is less time than it lasts and is counted from before the
//! request. Whatever is in doubt is stepped down from: its rows are there for whoever passes the gate next.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::{Millis, fair_share};

use super::Pipeline;
use super::holdings::Held;
use super::settings::ms;
use crate::lease::Answer;
use crate::runtime::Service;
use crate::store;

pub struct Shards {
    pub pipeline: Arc<Pipeline>,
    /// Nothing new is taken any more.
    stopping: AtomicBool,
}

impl Shards {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self {
            pipeline,
            stopping: AtomicBool::new(false),
        }
    }

    async fn round(&self) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let now = pipeline.clock.now();
        pipeline
            .store
            .report_node(&pipeline.node, &pipeline.address(), now)
            .await?;
        let wanted = self.share(now).await?;
        self.renew().await;
        self.hand_back(&wanted).await;
        if !self.stopping.load(Ordering::Relaxed) {
            self.take(&wanted, now).await?;
        }
        pipeline
            .metrics
            .shards_held
            .set(pipeline.holdings.all().len() as i64);
        Ok(())
    }

    /// The same answer on every node that sees the same nodes.
    async fn share(&self, now: Millis) -> store::Result<BTreeSet<i32>> {
        let pipeline = &self.pipeline;
        let live = pipeline
            .store
            .live_nodes(now - ms(pipeline.settings.ttl))
            .await?;
        pipeline.peers.store(
            live.iter().any(|node| node.id != pipeline.node),
            Ordering::Relaxed,
        );
        let ids: Vec<&str> = live.iter().map(|node| node.id.as_str()).collect();
        let mut shares = fair_share(pipeline.shards, &ids);
        Ok(shares
            .remove(pipeline.node.as_str())
            .unwrap_or_default()
            .into_iter()
            .collect())
    }

    async fn renew(&self) {
        let pipeline = &self.pipeline;
        let mut degraded = false;
        for (shard, held) in pipeline.holdings.all() {
            let asked = pipeline.clock.monotonic();
            if asked >= held.trusted_until {
                tracing::warn!(
                    shard,
                    epoch = held.epoch,
                    "the lease could not be renewed in time: stepping down"
                );
                pipeline.step_down(shard, held.epoch);
                continue;
            }
            if asked < held.renewed + pipeline.settings.renew_every {
                continue;
            }
            match pipeline.leases.renew(shard, pipeline.settings.ttl).await {
                Answer::Unreachable => degraded = true,
                // Another node has the key: only the database's lease decides, and that is renewed or refused below.
                Answer::Granted | Answer::Taken => {}
            }
            match pipeline
                .store
                .renew_shard(
                    shard,
                    held.epoch,
                    pipeline.clock.now(),
                    ms(pipeline.settings.ttl),
                )
                .await
            {
                Ok(true) => pipeline
                    .holdings
                    .renewed(shard, held.epoch, asked, self.trust()),
                Ok(false) => {
                    pipeline.metrics.fenced.inc();
                    tracing::warn!(
                        shard,
                        epoch = held.epoch,
                        "fenced: another node holds the shard now"
                    );
                    pipeline.step_down(shard, held.epoch);
                }
                Err(error) => tracing::warn!(shard, %error, "the lease could not be renewed yet"),
            }
        }
        if degraded {
            self.set_degraded(true);
        }
    }

    /// Surplus goes back one a round, so that no herd starts when a node joins.
    async fn hand_back(&self, wanted: &BTreeSet<i32>) {
        let surplus = self
            .pipeline
            .holdings
            .all()
            .into_iter()
            .find(|(shard, _)| !wanted.contains(shard));
        if let Some((shard, held)) = surplus {
            self.release(shard, held.epoch).await;
        }
    }

    async fn release(&self, shard: i32, epoch: i64) {
        let pipeline = &self.pipeline;
        pipeline.step_down(shard, epoch);
        if let Err(error) = pipeline.store.release_shard(shard, epoch).await {
            tracing::warn!(shard, %error, "the lease was not given back; it ends by itself");
        }
        pipeline.leases.release(shard).await;
    }

    async fn take(&self, wanted: &BTreeSet<i32>, now: Millis) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let held = pipeline.holdings.all();
        let free = pipeline.store.leases().await?.into_iter().filter(|lease| {
            wanted.contains(&lease.shard)
                && !held.contains_key(&lease.shard)
                && (lease.expires_at < now || lease.owner == pipeline.node)
        });
        for lease in free {
            self.take_one(lease.shard).await?;
        }
        Ok(())
    }

    async fn take_one(&self, shard: i32) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let asked = pipeline.clock.monotonic();
        match pipeline.leases.take(shard, pipeline.settings.ttl).await {
            Answer::Taken => return Ok(()),
            Answer::Granted => self.set_degraded(false),
            Answer::Unreachable => self.set_degraded(true),
        }
        let now = pipeline.clock.now();
        match pipeline
            .store
            .take_shard(shard, &pipeline.node, now, ms(pipeline.settings.ttl))
            .await?
        {
            Some(epoch) => {
                tracing::debug!(shard, epoch, "took a shard");
                pipeline.holdings.put(
                    shard,
                    Held {
                        epoch,
                        trusted_until: asked + self.trust(),
                        renewed: asked,
                    },
                );
                pipeline.job_changed(shard);
            }
            None => pipeline.leases.release(shard).await,
        }
        Ok(())
    }

    fn trust(&self) -> Duration {
        self.pipeline.settings.ttl - self.pipeline.settings.margin
    }

    fn set_degraded(&self, degraded: bool) {
        let before = self.pipeline.metrics.degraded.get() == 1;
        self.pipeline.metrics.degraded.set(i64::from(degraded));
        if degraded && !before {
            tracing::warn!(
                "degraded: Redis does not answer; the database lease alone guards the shards"
            );
        } else if before && !degraded {
            tracing::info!("Redis answers again");
        }
    }

    /// For an orderly stop: everything goes back at once, and this node is no longer counted.
    pub async fn give_all_back(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        let pipeline = &self.pipeline;
        if let Err(error) = pipeline.store.retire_node(&pipeline.node).await {
            tracing::warn!(%error, "this node could not be signed off");
        }
        for (shard, held) in pipeline.holdings.all() {
            // Marking goes on until the next holder's epoch refuses it: only the lease goes back here.
            if let Err(error) = pipeline.store.release_shard(shard, held.epoch).await {
                tracing::warn!(shard, %error, "the lease was not given back; it ends by itself");
            }
            pipeline.leases.release(shard).await;
        }
    }

    /// After the leases went back: is there a shard that no peer has taken yet?
    pub async fn is_marking_still_ours(&self) -> bool {
        let Ok(leases) = self.pipeline.store.leases().await else {
            return false;
        };
        let held = self.pipeline.holdings.all();
        for lease in leases {
            if held
                .get(&lease.shard)
                .is_some_and(|held| held.epoch != lease.epoch)
            {
                self.pipeline
                    .step_down(lease.shard, held[&lease.shard].epoch);
            }
        }
        !self.pipeline.holdings.all().is_empty()
    }
}

#[async_trait]
impl Service for Shards {
    fn name(&self) -> &'static str {
        "shards"
    }

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, "shards could not be looked after; the next round goes on");
        }
        self.pipeline.settings.scan_every
    }
}
