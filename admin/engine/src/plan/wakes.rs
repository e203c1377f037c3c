//! Wakes the scanner of a shard; and the shards whose waiting runs are read from the table again, because some may have left
//! the queue without being sent: the answer to a commit was lost, or the lease was not trusted for a moment.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Clock;
use foldhash::HashMap;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::lease::held_shards::ShardListener;
use crate::lease::pending_hints::{FREE_SLOTS, PendingHints};
use carillon_store::lease::reshard::MAX_SHARDS;

/// A transaction that this node gave up may still be committed by the server: it waits at most 3 s for a lock. Until then a
/// single look may come too early, so each scan looks.
const UNSETTLED: Duration = Duration::from_secs(4);

pub struct ScanWakes {
    clock: Arc<dyn Clock>,
    /// None: no other node can be told.
    hints: Option<Arc<PendingHints>>,
    by_shard: Vec<Arc<Notify>>,
    /// Until when each shard is read again, on the monotonic clock.
    reread: Mutex<HashMap<i32, Duration>>,
}

impl ScanWakes {
    pub fn new(clock: Arc<dyn Clock>, hints: Option<Arc<PendingHints>>) -> Self {
        Self { clock, hints, by_shard: (0..MAX_SHARDS).map(|_| Arc::default()).collect(), reread: Mutex::default() }
    }

    pub fn of(&self, shard: i32) -> Option<Arc<Notify>> {
        self.by_shard.get(shard as usize).cloned()
    }

    /// A job of the shard was changed, or a run without a schedule was recorded; to be called after the commit. The node that holds the
    /// shard scans it at once.
    pub fn wake_holder(&self, shard: i32) {
        self.wake(shard);
        if let Some(hints) = &self.hints {
            hints.add(shard);
        }
    }

    /// The same, of a shard that this node holds.
    pub fn wake(&self, shard: i32) {
        if let Some(wake) = self.by_shard.get(shard as usize) {
            wake.notify_one();
        }
    }

    /// Slots of limits are free: the other nodes may have runs that wait for them.
    pub fn hint_slots(&self) {
        if let Some(hints) = &self.hints {
            hints.add(FREE_SLOTS);
        }
    }

    /// Other nodes can be told.
    pub fn can_hint(&self) -> bool {
        self.hints.is_some()
    }

    /// Something of this shard may wait in its rows alone: its scans look for it, the first one now.
    pub fn read_again(&self, shard: i32) {
        self.read_again_later(shard);
        self.wake(shard);
    }

    /// The same, from the next scan on.
    pub fn read_again_later(&self, shard: i32) {
        self.reread.lock().insert(shard, self.clock.monotonic() + UNSETTLED);
    }

    /// Whether this scan of the shard is to read. The last one is the first after the time.
    pub fn take_reread(&self, shard: i32) -> bool {
        let mut reread = self.reread.lock();
        let Some(until) = reread.get(&shard) else {
            return false;
        };
        if self.clock.monotonic() > *until {
            reread.remove(&shard);
        }
        true
    }

    /// Whether a later scan of the shard is to read again as well.
    pub fn needs_reread(&self, shard: i32) -> bool {
        self.reread.lock().contains_key(&shard)
    }
}

impl ShardListener for ScanWakes {
    fn taken(&self, shard: i32) {
        self.wake(shard);
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::ManualClock;

    use super::*;

    #[test]
    fn a_shard_is_read_until_a_lost_commit_must_have_been_settled_and_once_after() {
        let clock = Arc::new(ManualClock::new(0));
        let wakes = ScanWakes::new(clock.clone(), None);
        assert!(!wakes.take_reread(3));
        wakes.read_again(3);
        assert!(!wakes.take_reread(4));
        for pause in [0, 1, 3, 1] {
            clock.advance(Duration::from_secs(pause));
            assert!(wakes.take_reread(3));
        }
        assert!(!wakes.take_reread(3));
    }
}
