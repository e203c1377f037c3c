//! What all leases look like against what was seen before: another epoch means that a shard is not ours any more, a lower
//! one that the database is not the one of before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use carillon_scheduler::AlarmKind;

use crate::failpoint;
use crate::lease::coordinator::Shards;
use crate::store::lease::leases::Lease;

#[derive(Default)]
pub struct Watch(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// The highest epoch of each shard.
    epochs: BTreeMap<i32, i64>,
    stopped: BTreeSet<i32>,
}

impl Watch {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn remember(&self, shard: i32, epoch: i64) {
        let mut seen = self.seen();
        let highest = seen.epochs.entry(shard).or_insert(epoch);
        *highest = (*highest).max(epoch);
    }

    pub fn is_stopped(&self, shard: i32) -> bool {
        self.seen().stopped.contains(&shard)
    }

    /// The epoch that was seen before, if this one is lower; and whether that is news.
    fn went_back(&self, lease: &Lease) -> Option<(i64, bool)> {
        let mut seen = self.seen();
        let before = seen.epochs.get(&lease.shard).copied()?;
        if lease.epoch < before {
            return Some((before, seen.stopped.insert(lease.shard)));
        }
        seen.stopped.remove(&lease.shard);
        None
    }

    fn stopped(&self) -> usize {
        self.seen().stopped.len()
    }
}

/// The fault suite wants to see the database's fence, not our own look at it.
fn is_misled() -> bool {
    failpoint::flag("trust_off") || failpoint::flag("redis_lock_only")
}

impl Shards {
    /// Steps down from what is not ours any more, without waiting for a statement to be refused.
    pub(crate) async fn compare(&self, leases: &[Lease]) {
        let pipeline = &self.pipeline;
        let held = pipeline.holdings.all();
        let mut back = vec![];
        for lease in leases {
            match self.watch.went_back(lease) {
                Some((before, true)) => back.push((lease.shard, lease.epoch, before)),
                Some(_) => {}
                None => self.watch.remember(lease.shard, lease.epoch),
            }
        }
        if !back.is_empty() {
            self.tell_of_going_back(&back).await;
        }
        pipeline.metrics.shards_stopped.set(self.watch.stopped() as i64);
        let now: BTreeMap<i32, i64> = leases.iter().map(|it| (it.shard, it.epoch)).collect();
        for (shard, held) in held {
            if now.get(&shard) != Some(&held.epoch) && !is_misled() {
                pipeline.fenced(shard, held.epoch);
            }
        }
        for (shard, epoch) in pipeline.holdings.all_handed_over() {
            match leases.iter().find(|lease| lease.shard == shard) {
                Some(lease) if lease.epoch == epoch && lease.expires_at == 0 => {}
                // It was not heard when it was given back.
                Some(lease) if lease.epoch == epoch => self.release(shard, epoch).await,
                _ => pipeline.let_go(shard),
            }
        }
    }

    async fn tell_of_going_back(&self, back: &[(i32, i64, i64)]) {
        let list = back.iter().map(|(shard, epoch, before)| format!("shard {shard} has epoch {epoch} after {before}"));
        let text = format!(
            "the database went backwards: {}. An older state of it was restored, and what was recorded since is lost: \
             fires may repeat. These shards stand still until `carillon resync`",
            list.collect::<Vec<_>>().join(", ")
        );
        let raised = self.pipeline.raise_alarm(AlarmKind::Database, None, None, &*text);
        if let Err(error) = raised.await {
            tracing::error!(%error, "an alarm could not be stored: {text}");
        }
    }
}
