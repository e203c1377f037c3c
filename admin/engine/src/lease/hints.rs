//! Hints between the nodes, over Redis: work has come to shards that another node holds. Its scanners look at once instead of at their
//! next look, a second later. A hint that is lost costs that second, and nothing depends on one.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::dispatch::limits::gate::LimitGate;
use crate::lease::held_shards::HeldShards;
use crate::lease::lock::ShardLock;
use crate::lease::pending_hints::{FREE_SLOTS, PendingHints};
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Backoff, Service, Step};

/// What comes within this time goes in one message.
const GATHER: Duration = Duration::from_millis(10);
/// A connection over which nothing has come for this time is made again: it may lead to a server that is gone.
const SILENCE: Duration = Duration::from_secs(60);

/// Tells the other nodes.
pub struct HintSender {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub lock: Arc<ShardLock>,
    pub hints: Arc<PendingHints>,
}

impl Service for HintSender {
    const NAME: &'static str = "hints";
    const LINGER: Duration = GATHER;
    /// Shards of other nodes.
    type Report = usize;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.hints.wake())
    }

    async fn step(&self) -> Step<usize> {
        let mut shards = self.hints.take();
        shards.retain(|shard| self.held.epoch(*shard).is_none());
        if !shards.is_empty() {
            self.lock.hint(&shards).await;
            self.cx.metrics.hints_sent.inc_by(shards.len() as u64);
        }
        Step { did: shards.len(), next: SILENCE }
    }
}

/// Wakes the scanners of shards that another node has named.
pub struct HintListener {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub wakes: Arc<ScanWakes>,
    pub lock: Arc<ShardLock>,
    pub limits: Arc<LimitGate>,
    pub backoff: Backoff,
}

impl HintListener {
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        if self.lock.can_hint() {
            stop.run_until_cancelled(self.listen()).await;
        }
    }

    async fn listen(&self) {
        loop {
            let pause = match self.lock.hints().await {
                Some(hints) => {
                    self.backoff.succeeded();
                    self.follow(hints).await;
                    Duration::ZERO
                }
                None => self.backoff.failed(),
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Until the connection ends, or says nothing for long.
    async fn follow(&self, hints: impl Stream<Item = Vec<i32>>) {
        let mut hints = std::pin::pin!(hints);
        while let Ok(Some(shards)) = tokio::time::timeout(SILENCE, hints.next()).await {
            for shard in shards {
                if shard == FREE_SLOTS {
                    self.limits.follow_hint();
                } else if self.held.epoch(shard).is_some() {
                    self.cx.metrics.hints_followed.inc();
                    self.wakes.wake(shard);
                }
            }
        }
    }
}
