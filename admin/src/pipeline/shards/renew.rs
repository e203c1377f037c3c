//! Renewal: the lock and the lease of each shard, all at once, so that a round is bounded however many shards there are.

use super::{Shards, few_at_once};
use crate::failpoint;
use crate::pipeline::holdings::Held;
use crate::pipeline::settings::ms;

impl Shards {
    pub(super) async fn renew(&self) {
        let pipeline = &self.pipeline;
        let asked = pipeline.clock.monotonic();
        let mut due = vec![];
        for (shard, held) in pipeline.holdings.all() {
            if asked >= held.trusted_until && !failpoint::flag("trust_off") {
                tracing::warn!(
                    shard,
                    epoch = held.epoch,
                    "the lease could not be renewed in time: stepping down"
                );
                pipeline.step_down(shard, held.epoch);
            } else if asked >= held.renewed + pipeline.settings.renew_every {
                due.push((shard, held));
            }
        }
        if due.is_empty() {
            return;
        }
        let shards: Vec<i32> = due.iter().map(|(shard, _)| *shard).collect();
        let locks = async {
            let answers = pipeline.leases.renew(&shards, pipeline.settings.ttl).await;
            // Another node may have the lock: only the database's lease decides, and that is renewed or refused beside it.
            for (shard, answer) in shards.iter().zip(answers) {
                self.locks.heard(*shard, answer);
            }
        };
        let leases = due
            .into_iter()
            .map(|(shard, held)| self.renew_lease(shard, held));
        futures_util::join!(locks, few_at_once(leases.collect()));
    }

    async fn renew_lease(&self, shard: i32, held: Held) {
        let pipeline = &self.pipeline;
        let asked = pipeline.clock.monotonic();
        let ttl = ms(pipeline.settings.ttl);
        let now = pipeline.clock.now();
        match pipeline
            .store
            .renew_shard(shard, held.epoch, now, ttl)
            .await
        {
            Ok(true) => pipeline
                .holdings
                .renewed(shard, held.epoch, asked, self.trust()),
            Ok(false) => pipeline.fenced(shard, held.epoch),
            Err(error) => tracing::warn!(shard, %error, "the lease could not be renewed yet"),
        }
    }
}
