//! Looks once a second, with one statement for all shards of this node, which of them a scan would find work in, and wakes their
//! scanners. A scanner that is not woken looks for itself now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::context::Context;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::plan::scanner::OVERLAP_MS;
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Service, Step};
use crate::settings::ms;
use carillon_store as store;

pub struct ScanPoller {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) clock_guard: Arc<ClockGuard>,
    pub(crate) wakes: Arc<ScanWakes>,
    /// Cursors up to this moment were seen by an earlier look.
    pub(crate) seen_until: AtomicI64,
}

impl ScanPoller {
    async fn look(&self, shards: &[i32]) -> store::Result<Vec<i32>> {
        let now = self.cx.clock.now();
        let (near, until) = (now + ms(self.cx.settings.claim_within), now + ms(self.cx.settings.look_ahead));
        let from = self.seen_until.load(Ordering::Relaxed).min(near).saturating_sub(OVERLAP_MS);
        let found = self.cx.store.runs().shards_to_scan(shards, from, near, until).await?;
        self.seen_until.store(near, Ordering::Relaxed);
        Ok(found)
    }
}

impl Service for ScanPoller {
    const NAME: &'static str = "poll";
    /// The shards whose scanners were woken.
    type Report = Vec<i32>;

    async fn step(&self) -> Step<Vec<i32>> {
        let shards: Vec<i32> = self.held.trusted().into_iter().map(|(shard, _)| shard).collect();
        let next = self.cx.settings.scan_every;
        if shards.is_empty() || self.clock_guard.is_suspect() {
            return Step { did: vec![], next };
        }
        let did = self.look(&shards).await.unwrap_or_else(|error| {
            // The scans find out for themselves, and log what is wrong.
            tracing::debug!(%error, "the shards could not be looked at together");
            shards
        });
        did.iter().for_each(|shard| self.wakes.wake(*shard));
        Step { did, next }
    }
}
