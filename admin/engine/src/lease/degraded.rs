//! Whether the locks can be asked, and which of ours must go because their shard is not ours any more. A node that cannot ask
//! them is degraded: it goes on under the leases of the database alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::lease::held_shards::HeldShards;
use crate::lease::lock::ShardLock;
use crate::lease::redis::lock::LockAnswer;
use crate::metrics::Metrics;

pub struct LockHealth {
    pub lock: Arc<ShardLock>,
    /// In this round: were they asked, and did an answer fail to come?
    pub(crate) asked: AtomicBool,
    pub(crate) away: AtomicBool,
    /// Shards whose lock may be ours.
    pub(crate) taken: Mutex<BTreeSet<i32>>,
}

impl LockHealth {
    pub fn begin(&self) {
        self.asked.store(false, Ordering::Relaxed);
        self.away.store(false, Ordering::Relaxed);
    }

    pub fn record(&self, shard: i32, answer: LockAnswer) {
        self.asked.store(true, Ordering::Relaxed);
        match answer {
            LockAnswer::Granted => drop(self.taken.lock().insert(shard)),
            LockAnswer::Taken => {}
            LockAnswer::Unreachable => self.away.store(true, Ordering::Relaxed),
        }
    }

    /// One missing answer is enough for a round: every further question would cost a time-out.
    pub fn are_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Gives back what belongs to no shard of ours, and notes whether the node is degraded.
    pub async fn end(&self, held: &HeldShards, metrics: &Metrics) {
        let held = held.all();
        let idle: Vec<i32> = self.taken.lock().extract_if(.., |shard| !held.contains_key(shard)).collect();
        if !idle.is_empty() && !self.are_away() {
            self.lock.release(&idle).await;
        }
        let was_degraded = metrics.degraded.get() == 1;
        let is_degraded = match self.asked.load(Ordering::Relaxed) {
            true => self.are_away(),
            // No lock was due: only a node that is degraded has to learn when that ends.
            false => was_degraded && self.lock.now().await.is_none(),
        };
        metrics.degraded.set(i64::from(is_degraded));
        if is_degraded && !was_degraded {
            tracing::warn!("degraded: Redis does not answer; the database lease alone guards the shards");
        } else if was_degraded && !is_degraded {
            tracing::info!("Redis answers again: no longer degraded");
        }
    }
}
