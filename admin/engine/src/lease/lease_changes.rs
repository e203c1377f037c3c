//! Taking, renewing and giving back of leases and locks.
//!
//! A free shard of our share is taken through the lock, if the lock can be asked, and then through the database. Renewals go out all
//! at once, so that a round is bounded however many shards there are. At an orderly stop leases and locks go back at once, and
//! marking goes on until a peer's epoch refuses it.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

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
            let answer = self.locks.lock.take(shard, self.cx.settings.lease_ttl).await;
            self.locks.record(shard, answer);
            if answer == LockAnswer::Taken {
                self.count_conflict("redis");
                return Ok(false);
            }
        }
        let (now, ttl) = (self.cx.clock.now(), ms(self.cx.settings.lease_ttl));
        let Some(epoch) = self.cx.store.leases().take(shard, &self.cx.node, now, ttl).await? else {
            self.count_conflict("database");
            return Ok(false);
        };
        tracing::debug!(shard, lease.epoch = epoch, "took a shard");
        self.epochs.remember(shard, epoch);
        self.held.take(shard, HeldShard::new(epoch, asked, self.cx.settings.trust()));
        Ok(true)
    }

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
        let answers = self.locks.lock.renew(shards, self.cx.settings.lease_ttl).await;
        // Another node may have a lock: only the database's lease decides, and that is renewed or refused beside it.
        for (shard, answer) in shards.iter().zip(answers) {
            self.locks.record(*shard, answer);
            if answer == LockAnswer::Taken {
                self.count_conflict("redis");
            }
        }
    }

    async fn renew_lease(&self, shard: i32, held: HeldShard) {
        let asked = self.cx.clock.monotonic();
        let (now, ttl) = (self.cx.clock.now(), ms(self.cx.settings.lease_ttl));
        match self.cx.store.leases().renew(shard, held.epoch, now, ttl).await {
            Ok(true) => self.held.renewed(shard, held.epoch, asked, self.cx.settings.trust()),
            Ok(false) => {
                self.count_conflict("database");
                self.held.fence(shard, held.epoch);
            }
            Err(error) => tracing::warn!(shard, %error, "the lease could not be renewed yet"),
        }
    }

    /// Another node has the lock or the lease of a shard that this node wanted.
    fn count_conflict(&self, lock: &str) {
        self.cx.metrics.lock_conflicts.with_label_values(&[lock]).inc();
    }

    /// Everything goes back at once, and this node is no longer counted.
    pub async fn release_all(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        if let Err(error) = self.cx.store.leases().retire_node(&self.cx.node).await {
            tracing::warn!(%error, "this node could not be signed off");
        }
        let held = self.held.all();
        let shards: Vec<i32> = held.keys().copied().collect();
        // Marking goes on: only the lease goes back here.
        let leases = held.into_iter().map(|(shard, held)| self.release(shard, held.epoch));
        futures_util::join!(few_at_once(leases.collect()), self.locks.lock.release(&shards));
    }

    /// After the leases went back: is there a shard that no peer has taken yet?
    pub async fn may_still_mark(&self) -> bool {
        let Ok(leases) = self.cx.store.leases().list().await else {
            return false;
        };
        let is_ours = |shard: i32, epoch: i64| leases.iter().any(|lease| (lease.shard, lease.epoch) == (shard, epoch));
        for (shard, held) in self.held.all() {
            if !is_ours(shard, held.epoch) {
                self.held.step_down(shard, held.epoch);
            }
        }
        for (shard, epoch) in self.held.all_mark_only() {
            if !is_ours(shard, epoch) {
                self.held.let_go(shard);
            }
        }
        !self.held.all().is_empty() || !self.held.all_mark_only().is_empty()
    }
}
