//! What is known of the locks: whether they can be asked, and which of ours must go because their shard is not ours any more.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::Pipeline;
use crate::lease::lock::Answer;

#[derive(Default)]
pub struct Locks {
    /// In this round: were they asked, and was there an answer that did not come?
    asked: AtomicBool,
    away: AtomicBool,
    /// Shards whose lock may be ours.
    taken: Mutex<BTreeSet<i32>>,
}

impl Locks {
    pub fn begin(&self) {
        self.asked.store(false, Ordering::Relaxed);
        self.away.store(false, Ordering::Relaxed);
    }

    pub fn heard(&self, shard: i32, answer: Answer) {
        self.asked.store(true, Ordering::Relaxed);
        match answer {
            Answer::Granted => {
                let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
                taken.insert(shard);
            }
            Answer::Taken => {}
            Answer::Unreachable => self.away.store(true, Ordering::Relaxed),
        }
    }

    /// One answer that did not come is enough for a round: every further question would cost a time-out.
    pub fn are_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Gives back what belongs to no shard of ours, and says whether the node is degraded.
    pub async fn end(&self, pipeline: &Pipeline) {
        let held = pipeline.holdings.all();
        let idle: Vec<i32> = {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let idle = taken.iter().filter(|shard| !held.contains_key(shard));
            let idle = idle.copied().collect();
            taken.retain(|shard| held.contains_key(shard));
            idle
        };
        if !idle.is_empty() && !self.are_away() {
            pipeline.leases.release(&idle).await;
        }
        let degraded = match self.asked.load(Ordering::Relaxed) {
            true => self.are_away(),
            // Nothing was to be asked: only a node that is degraded wants to know when that ends.
            false => pipeline.is_degraded() && pipeline.leases.now().await.is_none(),
        };
        set_degraded(pipeline, degraded);
    }
}

fn set_degraded(pipeline: &Pipeline, degraded: bool) {
    let before = pipeline.is_degraded();
    pipeline.metrics.degraded.set(i64::from(degraded));
    if degraded && !before {
        tracing::warn!("degraded: Redis does not answer; the database lease alone guards the shards");
    } else if before && !degraded {
        tracing::info!("Redis answers again: no longer degraded");
    }
}
