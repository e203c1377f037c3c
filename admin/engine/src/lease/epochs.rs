//! The highest epoch that was seen of each shard. A lower one means that an older state of the database was restored: the
//! shard is stopped until an operator has set the epochs right.

use std::collections::{BTreeMap, BTreeSet};

use carillon_store::lease::leases::Lease;
use parking_lot::Mutex;

#[derive(Default)]
pub struct EpochGuard(Mutex<SeenEpochs>);

#[derive(Default)]
struct SeenEpochs {
    highest: BTreeMap<i32, i64>,
    stopped: BTreeSet<i32>,
}

impl EpochGuard {
    pub fn remember(&self, shard: i32, epoch: i64) {
        let mut seen = self.0.lock();
        let highest = seen.highest.entry(shard).or_insert(epoch);
        *highest = (*highest).max(epoch);
    }

    pub fn is_stopped(&self, shard: i32) -> bool {
        self.0.lock().stopped.contains(&shard)
    }

    /// The epoch that was seen before, if this one is lower; once for each time that it happens.
    pub fn regressed(&self, lease: &Lease) -> Option<i64> {
        let mut seen = self.0.lock();
        let highest = seen.highest.entry(lease.shard).or_insert(lease.epoch);
        let before = *highest;
        *highest = before.max(lease.epoch);
        if lease.epoch < before {
            return seen.stopped.insert(lease.shard).then_some(before);
        }
        seen.stopped.remove(&lease.shard);
        None
    }

    pub fn stopped(&self) -> usize {
        self.0.lock().stopped.len()
    }
}
