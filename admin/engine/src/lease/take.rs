//! Taking what is free of our share: the lock, if it can be asked, then the gate in the database.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use carillon_scheduler::Millis;

use crate::lease::coordinator::{LeaseCoordinator, few_at_once};
use crate::lease::held_shards::HeldShard;
use crate::lease::redis::lock::LockAnswer;
use crate::settings::ms;
use carillon_store as store;
use carillon_store::lease::leases::Lease;

impl LeaseCoordinator {
    pub(crate) async fn take(&self, wanted: &BTreeSet<i32>, leases: &[Lease], now: Millis) {
        let held = self.held.all();
        let free = leases.iter().filter(|lease| {
            wanted.contains(&lease.shard)
                && !held.contains_key(&lease.shard)
                && !self.epochs.is_stopped(lease.shard)
                && (lease.expires_at < now || lease.owner == self.cx.node)
        });
        few_at_once(free.map(|lease| self.take_or_log(lease.shard)).collect()).await;
    }

    /// An error of one shard does not stop the others.
    async fn take_or_log(&self, shard: i32) {
        match self.take_one(shard).await {
            Ok(true) => {}
            // A lock of ours goes back at the end of the round.
            Ok(false) => self.refused.store(true, Ordering::Relaxed),
            Err(error) => tracing::warn!(shard, %error, "the shard could not be taken; the next round tries again"),
        }
    }

    /// False: another node was faster.
    async fn take_one(&self, shard: i32) -> store::Result<bool> {
        let asked = self.cx.clock.monotonic();
        if !self.locks.are_away() {
            let answer = self.locks.lock.take(shard, self.cx.settings.ttl).await;
            self.locks.record(shard, answer);
            if answer == LockAnswer::Taken {
                return Ok(false);
            }
        }
        let (now, ttl) = (self.cx.clock.now(), ms(self.cx.settings.ttl));
        let Some(epoch) = self.cx.store.leases().take(shard, &self.cx.node, now, ttl).await? else {
            return Ok(false);
        };
        tracing::debug!(shard, lease.epoch = epoch, "took a shard");
        self.epochs.remember(shard, epoch);
        self.held.take(shard, HeldShard::new(epoch, asked, self.cx.settings.trust()));
        Ok(true)
    }
}
