//! Taking what is free of our share: the lock, if it can be asked, then the gate in the database.

use std::collections::BTreeSet;

use carillon_scheduler::Millis;

use crate::failpoint;
use crate::lease::coordinator::{Shards, few_at_once};
use crate::lease::held_shards::Held;
use crate::lease::lock::Answer;
use crate::settings::ms;
use crate::store;
use crate::store::lease::leases::Lease;

impl Shards {
    pub(crate) async fn take(&self, wanted: &BTreeSet<i32>, leases: &[Lease], now: Millis) {
        let held = self.pipeline.holdings.all();
        let free = leases.iter().filter(|lease| {
            wanted.contains(&lease.shard)
                && !held.contains_key(&lease.shard)
                && !self.watch.is_stopped(lease.shard)
                && (lease.expires_at < now || lease.owner == self.pipeline.node || failpoint::flag("redis_lock_only"))
        });
        few_at_once(free.map(|lease| self.take_or_log(lease.shard)).collect()).await;
    }

    /// One shard's trouble is not the others'.
    async fn take_or_log(&self, shard: i32) {
        if let Err(error) = self.take_one(shard).await {
            tracing::warn!(shard, %error, "the shard could not be taken; the next round tries again");
        }
    }

    async fn take_one(&self, shard: i32) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let asked = pipeline.clock.monotonic();
        if !self.locks.are_away() {
            let answer = pipeline.leases.take(shard, pipeline.settings.ttl).await;
            self.locks.heard(shard, answer);
            if answer == Answer::Taken {
                self.was_refused();
                return Ok(());
            }
        }
        let ttl = ms(pipeline.settings.ttl);
        let now = pipeline.clock.now();
        match pipeline.store.take_shard(shard, &pipeline.node, now, ttl).await? {
            Some(epoch) => {
                tracing::debug!(shard, lease.epoch = epoch, "took a shard");
                self.watch.remember(shard, epoch);
                let held = Held { epoch, trusted_until: asked + self.trust(), renewed: asked, lock_asked: asked };
                pipeline.holdings.put(shard, held);
                pipeline.job_changed(shard);
                // What the holder before left unanswered, or unfinished, has waited already.
                pipeline.resolve_wake.notify_one();
                pipeline.watch_wake.notify_one();
            }
            // The lock, if it is ours, goes back at the end of the round.
            None => self.was_refused(),
        }
        Ok(())
    }

    fn was_refused(&self) {
        self.refused.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}
