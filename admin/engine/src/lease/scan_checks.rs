//! The alarms of shards that this node should work and whose scans do not succeed.

use std::collections::BTreeSet;

use carillon_scheduler::Millis;

use crate::lease::coordinator::LeaseCoordinator;
use crate::lease::stalled_shards::STALLED_AFTER;
use carillon_store as store;
use carillon_store::lease::leases::Lease;

impl LeaseCoordinator {
    /// Raises an alarm for each shard that this node has to work and does not, and closes it when the shard is worked again.
    pub(crate) async fn check_scans(&self, wanted: &BTreeSet<i32>, leases: &[Lease], now: Millis) -> store::Result<()> {
        if self.clock_guard.is_suspect() {
            // Scans wait for the clock, which has an alarm of its own.
            return Ok(());
        }
        let is_free = |lease: &&Lease| lease.expires_at < now || lease.owner == self.cx.node;
        let free = leases.iter().filter(is_free).map(|lease| lease.shard).filter(|shard| wanted.contains(shard));
        let mut shards: BTreeSet<i32> = free.filter(|shard| !self.epochs.is_stopped(*shard)).collect();
        shards.extend(self.held.all().into_keys());
        let found = self.stalled.check(&shards, self.cx.clock.monotonic(), self.cx.settings.lease_ttl);
        self.cx.metrics.scan_lag.set(found.lag.as_secs_f64());
        for shard in found.stalled {
            let raised = self.cx.store.alarms().raise_stalled_shard(shard, STALLED_AFTER.as_secs(), now).await?;
            self.stalled.record_alarm(shard, true);
            if let Some(alarm) = raised {
                self.cx.log_alarm(&alarm);
            }
        }
        if !found.worked.is_empty() {
            let total = self.held.total();
            // A shard that no longer exists needs no work.
            let is_over = |shard: i32| shard >= total || found.worked.contains(&shard);
            self.cx.store.alarms().close_stalled_shards(is_over, now).await?;
            found.worked.iter().for_each(|shard| self.stalled.record_alarm(*shard, false));
        }
        Ok(())
    }
}
