//! An orderly stop: leases and locks go back at once, marking goes on until a peer's epoch refuses it.

use std::sync::atomic::Ordering;

use crate::lease::coordinator::{LeaseCoordinator, few_at_once};

impl LeaseCoordinator {
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
