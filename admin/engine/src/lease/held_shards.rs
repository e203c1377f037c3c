//! Which shards this node holds, under which epoch, and for how long it may trust that.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use carillon_scheduler::Clock;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::metrics::Metrics;

/// One shard of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldShard {
    pub epoch: i64,
    /// On the monotonic clock; counted from before the request that took or renewed the lease.
    pub trusted_until: Duration,
    /// The lease, by a renewal or a claim.
    pub renewed: Duration,
    /// The lock was last asked for: claims extend the lease alone.
    pub lock_asked: Duration,
    /// Given back, and not known to have another holder: its runs are marked, and nothing else is done with it.
    is_mark_only: bool,
}

impl HeldShard {
    pub fn new(epoch: i64, asked: Duration, trust: Duration) -> Self {
        Self { epoch, trusted_until: asked + trust, renewed: asked, lock_asked: asked, is_mark_only: false }
    }
}

/// What a component remembers of a shard goes in the moment in which the shard is lost: its rows are there for the next
/// holder, and an entry of an earlier epoch must not meet those that are read under a new one.
pub trait ShardListener: Send + Sync {
    fn taken(&self, _shard: i32) {}
    fn lost(&self, _shard: i32) {}
}

/// A service that looks after a shard as soon as it is taken.
impl ShardListener for Notify {
    fn taken(&self, _shard: i32) {
        self.notify_one();
    }
}

pub struct HeldShards {
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    map: Mutex<BTreeMap<i32, HeldShard>>,
    /// Shards of the database, as it had them a moment ago: the number can be changed while nodes run.
    total: AtomicI32,
    listeners: Vec<Arc<dyn ShardListener>>,
    /// A shard has been taken or lost: wakes the pool of scanners.
    pub changed: Notify,
    /// A statement was refused: wakes the coordinator.
    pub fenced: Arc<Notify>,
}

impl HeldShards {
    pub fn new(
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
        total: i32,
        listeners: Vec<Arc<dyn ShardListener>>,
    ) -> Self {
        Self {
            clock,
            metrics,
            map: Mutex::default(),
            total: AtomicI32::new(total),
            listeners,
            changed: Notify::new(),
            fenced: Arc::default(),
        }
    }

    /// How many shards the database has.
    pub fn total(&self) -> i32 {
        self.total.load(Ordering::Relaxed)
    }

    /// The number that was just read. What is held was taken under the old one, and is refused by its epoch.
    pub fn set_total(&self, total: i32) {
        let before = self.total.swap(total, Ordering::Relaxed);
        if before != total {
            tracing::info!(shard.count_before = before, shard.count = total, "the number of shards has changed");
        }
    }

    /// The epoch under which the shard may be worked now; None when it is not ours or not trusted any more.
    pub fn epoch(&self, shard: i32) -> Option<i64> {
        let now = self.clock.monotonic();
        let map = self.map.lock();
        let held = map.get(&shard).filter(|held| !held.is_mark_only)?;
        (now < held.trusted_until).then_some(held.epoch)
    }

    /// What one node does for the whole cluster is done by the holder of the first shard.
    pub fn has_first(&self) -> bool {
        self.epoch(0).is_some()
    }

    /// The shards that may be worked now, with their epochs.
    pub fn trusted(&self) -> Vec<(i32, i64)> {
        self.shards().into_iter().filter_map(|shard| Some((shard, self.epoch(shard)?))).collect()
    }

    /// Whether a run that was read under this epoch may be marked now. A shard that was given back is marked longer than it is
    /// worked, or what is due between two holders would be late. The next holder's epoch ends it in each row that it adopts.
    pub fn may_mark(&self, shard: i32, epoch: i64) -> bool {
        let now = self.clock.monotonic();
        self.map.lock().get(&shard).is_some_and(|held| held.epoch == epoch && now < held.trusted_until)
    }

    /// The shards that this node works.
    pub fn all(&self) -> BTreeMap<i32, HeldShard> {
        self.map.lock().iter().filter(|(_, held)| !held.is_mark_only).map(|(shard, held)| (*shard, *held)).collect()
    }

    /// The shards that this node works, ascending.
    pub fn shards(&self) -> Vec<i32> {
        self.all().into_keys().collect()
    }

    /// Shards that are only marked, with their epochs.
    pub fn all_mark_only(&self) -> Vec<(i32, i64)> {
        self.map.lock().iter().filter(|(_, held)| held.is_mark_only).map(|(shard, held)| (*shard, held.epoch)).collect()
    }

    pub fn take(&self, shard: i32, held: HeldShard) {
        self.map.lock().insert(shard, held);
        self.changed.notify_one();
        self.listeners.iter().for_each(|listener| listener.taken(shard));
    }

    /// A claim or a renewal went through: the lease is trusted again, if it is still the same epoch.
    pub fn renewed(&self, shard: i32, epoch: i64, asked: Duration, trust: Duration) {
        if let Some(held) = self.map.lock().get_mut(&shard).filter(|held| held.epoch == epoch && !held.is_mark_only) {
            held.trusted_until = held.trusted_until.max(asked + trust);
            held.renewed = held.renewed.max(asked);
        }
    }

    /// The locks of these shards were asked for; the answer does not matter.
    pub fn lock_asked(&self, shards: &[i32], asked: Duration) {
        let mut map = self.map.lock();
        for shard in shards {
            if let Some(held) = map.get_mut(shard) {
                held.lock_asked = asked;
            }
        }
    }

    /// From now on the shard is only marked.
    pub fn hand_over(&self, shard: i32, epoch: i64) {
        if let Some(held) = self.map.lock().get_mut(&shard).filter(|held| held.epoch == epoch) {
            held.is_mark_only = true;
            self.changed.notify_one();
        }
    }

    /// Stops working a shard: no claims, no marks, nothing of it in memory.
    pub fn step_down(&self, shard: i32, epoch: i64) {
        if self.remove(shard, |held| held.epoch == epoch && !held.is_mark_only) {
            tracing::debug!(shard, lease.epoch = epoch, "stepped down from a shard");
        }
    }

    /// A shard that was handed over has its next holder.
    pub fn let_go(&self, shard: i32) {
        self.remove(shard, |held| held.is_mark_only);
    }

    /// The shard's lease has another epoch than ours: another node holds it, or the shards were divided again.
    pub fn fence(&self, shard: i32, epoch: i64) {
        self.metrics.fenced.inc();
        tracing::warn!(
            shard,
            lease.epoch = epoch,
            "fenced: the shard has another epoch now, by another node or a new division"
        );
        self.step_down(shard, epoch);
        self.fenced.notify_one();
    }

    /// Nothing more is marked: what waits in memory waits in its rows for the next holder.
    pub fn close(&self) {
        let shards: Vec<i32> = self.map.lock().keys().copied().collect();
        for shard in shards {
            self.remove(shard, |_| true);
        }
    }

    fn remove(&self, shard: i32, is_meant: impl Fn(&HeldShard) -> bool) -> bool {
        let mut map = self.map.lock();
        if !map.get(&shard).is_some_and(is_meant) {
            return false;
        }
        map.remove(&shard);
        drop(map);
        self.changed.notify_one();
        self.listeners.iter().for_each(|listener| listener.lost(shard));
        true
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::ManualClock;

    use super::*;

    const TRUST: Duration = Duration::from_secs(9);

    fn holding(epoch: i64) -> (Arc<ManualClock>, HeldShards) {
        let clock = Arc::new(ManualClock::new(0));
        let held = HeldShards::new(clock.clone(), Arc::default(), 4, vec![]);
        held.take(3, HeldShard::new(epoch, clock.monotonic(), TRUST));
        (clock, held)
    }

    #[test]
    fn a_lease_is_trusted_for_less_time_than_it_lasts() {
        let (clock, held) = holding(7);
        let begun = clock.monotonic();
        clock.advance(Duration::from_secs(8));
        assert_eq!(held.epoch(3), Some(7));
        clock.advance(Duration::from_secs(1));
        assert_eq!(held.epoch(3), None);
        let asked = begun + Duration::from_secs(5);
        held.renewed(3, 6, asked, TRUST);
        assert_eq!(held.epoch(3), None, "another epoch's renewal is not ours");
        held.renewed(3, 7, asked, TRUST);
        clock.advance(Duration::from_secs(4));
        assert_eq!(held.epoch(3), Some(7));
        held.step_down(3, 6);
        assert_eq!(held.shards(), [3]);
        held.step_down(3, 7);
        assert!(held.shards().is_empty());
    }

    #[test]
    fn what_was_handed_over_is_marked_until_another_node_has_it() {
        let (clock, held) = holding(7);
        held.hand_over(3, 6);
        assert_eq!(held.epoch(3), Some(7), "another epoch's shard is not ours to hand over");
        held.hand_over(3, 7);
        assert_eq!(held.epoch(3), None, "not worked");
        assert!(held.shards().is_empty() && held.all_mark_only() == [(3, 7)]);
        assert!(held.may_mark(3, 7) && !held.may_mark(3, 6));
        held.step_down(3, 7);
        assert!(held.may_mark(3, 7), "a claim that is refused does not end it");
        clock.advance(TRUST);
        assert!(!held.may_mark(3, 7), "nor for ever");
        held.take(3, HeldShard::new(8, clock.monotonic(), TRUST));
        assert!(held.may_mark(3, 8) && held.all_mark_only().is_empty());
    }

    struct Lost(Mutex<Vec<i32>>);

    impl ShardListener for Lost {
        fn lost(&self, shard: i32) {
            self.0.lock().push(shard);
        }
    }

    #[test]
    fn a_loss_is_announced_once() {
        let (clock, lost) = (Arc::new(ManualClock::new(0)), Arc::new(Lost(Mutex::default())));
        let held = HeldShards::new(clock, Arc::default(), 4, vec![lost.clone()]);
        for shard in 0..4 {
            held.take(shard, HeldShard::new(1, Duration::ZERO, TRUST));
        }
        held.step_down(0, 1);
        held.step_down(0, 1);
        held.hand_over(1, 1);
        assert_eq!(*lost.0.lock(), [0], "what is still marked stays");
        held.let_go(1);
        held.let_go(2);
        assert_eq!(*lost.0.lock(), [0, 1]);
        held.close();
        assert_eq!(*lost.0.lock(), [0, 1, 2, 3]);
    }
}
