//! Renewal: the lock and the lease of each shard, all at once, so that a round is bounded however many shards there are.

use std::time::Duration;

use crate::failpoint;
use crate::lease::coordinator::{Shards, few_at_once};
use crate::lease::held_shards::Held;
use crate::settings::ms;

impl Shards {
    pub(crate) async fn renew(&self) {
        let pipeline = &self.pipeline;
        let asked = pipeline.clock.monotonic();
        let every = pipeline.settings.renew_every;
        let (mut locks, mut leases) = (vec![], vec![]);
        for (shard, held) in pipeline.holdings.all() {
            if asked >= held.trusted_until && !failpoint::flag("trust_off") {
                tracing::warn!(
                    shard,
                    lease.epoch = held.epoch,
                    "the lease could not be renewed in time: stepping down"
                );
                pipeline.step_down(shard, held.epoch);
                continue;
            }
            if asked >= held.lock_asked + every {
                locks.push(shard);
            }
            if asked >= held.renewed + every {
                leases.push(self.renew_lease(shard, held));
            }
        }
        futures_util::join!(self.renew_locks(&locks, asked), few_at_once(leases));
    }

    async fn renew_locks(&self, shards: &[i32], asked: Duration) {
        if shards.is_empty() {
            return;
        }
        let pipeline = &self.pipeline;
        pipeline.holdings.lock_asked(shards, asked);
        let answers = pipeline.leases.renew(shards, pipeline.settings.ttl).await;
        // Another node may have a lock: only the database's lease decides, and that is renewed or refused beside it.
        for (shard, answer) in shards.iter().zip(answers) {
            self.locks.heard(*shard, answer);
        }
    }

    async fn renew_lease(&self, shard: i32, held: Held) {
        let pipeline = &self.pipeline;
        let asked = pipeline.clock.monotonic();
        let ttl = ms(pipeline.settings.ttl);
        let now = pipeline.clock.now();
        match pipeline.store.renew_shard(shard, held.epoch, now, ttl).await {
            Ok(true) => pipeline.holdings.renewed(shard, held.epoch, asked, self.trust()),
            Ok(false) => pipeline.fenced(shard, held.epoch),
            Err(error) => tracing::warn!(shard, %error, "the lease could not be renewed yet"),
        }
    }
}
