//! Renewal: the lock and the lease of each shard, all at once, so that a round is bounded however many shards there are.

use std::time::Duration;

use crate::lease::coordinator::{LeaseCoordinator, few_at_once};
use crate::lease::held_shards::HeldShard;
use crate::settings::ms;

impl LeaseCoordinator {
    pub(crate) async fn renew(&self) {
        let asked = self.cx.clock.monotonic();
        let every = self.cx.settings.renew_every;
        let (mut locks, mut leases) = (vec![], vec![]);
        for (shard, held) in self.held.all() {
            if asked >= held.trusted_until {
                tracing::warn!(
                    shard,
                    lease.epoch = held.epoch,
                    "the lease could not be renewed in time: stepping down"
                );
                self.held.step_down(shard, held.epoch);
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
        self.held.lock_asked(shards, asked);
        let answers = self.locks.lock.renew(shards, self.cx.settings.ttl).await;
        // Another node may have a lock: only the database's lease decides, and that is renewed or refused beside it.
        for (shard, answer) in shards.iter().zip(answers) {
            self.locks.record(*shard, answer);
        }
    }

    async fn renew_lease(&self, shard: i32, held: HeldShard) {
        let asked = self.cx.clock.monotonic();
        let (now, ttl) = (self.cx.clock.now(), ms(self.cx.settings.ttl));
        match self.cx.store.leases().renew(shard, held.epoch, now, ttl).await {
            Ok(true) => self.held.renewed(shard, held.epoch, asked, self.cx.settings.trust()),
            Ok(false) => self.held.fence(shard, held.epoch),
            Err(error) => tracing::warn!(shard, %error, "the lease could not be renewed yet"),
        }
    }
}
