//! An orderly stop: leases and locks go back at once, marking goes on until a peer's epoch refuses it.

use std::sync::atomic::Ordering;

use crate::lease::coordinator::{Shards, few_at_once};

impl Shards {
    /// Everything goes back at once, and this node is no longer counted.
    pub async fn give_all_back(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        let pipeline = &self.pipeline;
        if let Err(error) = pipeline.store.retire_node(&pipeline.node).await {
            tracing::warn!(%error, "this node could not be signed off");
        }
        let held = pipeline.holdings.all();
        let shards: Vec<i32> = held.keys().copied().collect();
        // Marking goes on: only the lease goes back here.
        let leases = held.into_iter().map(|(shard, held)| self.release(shard, held.epoch));
        let locks = pipeline.leases.release(&shards);
        futures_util::join!(few_at_once(leases.collect()), locks);
    }

    /// After the leases went back: is there a shard that no peer has taken yet?
    pub async fn is_marking_still_ours(&self) -> bool {
        let Ok(leases) = self.pipeline.store.leases().await else {
            return false;
        };
        let held = self.pipeline.holdings.all();
        for (shard, held) in held {
            let lease = leases.iter().find(|lease| lease.shard == shard);
            if lease.is_none_or(|lease| lease.epoch != held.epoch) {
                self.pipeline.step_down(shard, held.epoch);
            }
        }
        let holdings = &self.pipeline.holdings;
        for (shard, epoch) in holdings.all_handed_over() {
            let lease = leases.iter().find(|lease| lease.shard == shard);
            if lease.is_none_or(|lease| lease.epoch != epoch) {
                self.pipeline.let_go(shard);
            }
        }
        !holdings.all().is_empty() || !holdings.all_handed_over().is_empty()
    }
}
