//! How a shard leaves this node's memory. Its rows are there for whoever holds it next.

use crate::Pipeline;

impl Pipeline {
    /// Stops working a shard: no claims, no marks, nothing of it in memory.
    pub(crate) fn step_down(&self, shard: i32, epoch: i64) {
        if self.holdings.drop(shard, epoch) {
            let dropped = self.ring().remove_shard(shard);
            self.overlaps.remove_shard(shard);
            tracing::debug!(shard, lease.epoch = epoch, run.count = dropped, "stepped down from a shard");
        }
    }

    /// A shard that was handed over has its next holder.
    pub(crate) fn let_go(&self, shard: i32) {
        self.holdings.forget_handed_over(shard);
        if !self.holdings.all().contains_key(&shard) {
            self.ring().remove_shard(shard);
            self.overlaps.remove_shard(shard);
        }
    }

    /// The shard's lease has another epoch than ours: somebody else holds it, or the shards were divided anew.
    pub(crate) fn fenced(&self, shard: i32, epoch: i64) {
        self.metrics.fenced.inc();
        tracing::warn!(
            shard,
            lease.epoch = epoch,
            "fenced: the shard has another epoch now, by another node or a new division"
        );
        self.step_down(shard, epoch);
        self.shards_wake.notify_one();
    }

    /// Nothing more is marked: what is in the ring waits in its rows for the next holder.
    pub fn close(&self) {
        for (shard, held) in self.holdings.all() {
            self.step_down(shard, held.epoch);
        }
        for (shard, _) in self.holdings.all_handed_over() {
            self.let_go(shard);
        }
    }
}
