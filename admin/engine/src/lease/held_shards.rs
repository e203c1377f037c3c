//! Which shards this node holds, under which epoch, and for how long it may trust that.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::failpoint;

/// One shard of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub epoch: i64,
    /// On the monotonic clock; counted from before the request that took or renewed the lease.
    pub trusted_until: Duration,
    /// The lease, by a renewal or a claim.
    pub renewed: Duration,
    /// The lock was last asked for: claims extend the lease alone.
    pub lock_asked: Duration,
}

#[derive(Default)]
pub struct Holdings {
    map: Mutex<BTreeMap<i32, Held>>,
    /// Given back, and not known to have another holder: marked, and nothing else.
    handed_over: Mutex<BTreeMap<i32, Held>>,
    /// A shard has been taken or lost.
    pub changed: Notify,
}

impl Holdings {
    fn map(&self) -> MutexGuard<'_, BTreeMap<i32, Held>> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handed_over(&self) -> MutexGuard<'_, BTreeMap<i32, Held>> {
        let map = &self.handed_over;
        map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The epoch under which the shard may be worked now; None when it is not ours or not trusted any more.
    pub fn epoch(&self, shard: i32, now: Duration) -> Option<i64> {
        self.map()
            .get(&shard)
            .filter(|held| now < held.trusted_until || failpoint::flag("trust_off"))
            .map(|held| held.epoch)
    }

    /// The epoch under which its runs may be marked now: longer than it is worked, or nobody would send what is due between
    /// two holders. The next one's epoch ends it in each row that it adopts.
    pub fn marking_epoch(&self, shard: i32, now: Duration) -> Option<i64> {
        self.epoch(shard, now).or_else(|| {
            let map = self.handed_over();
            let held = map.get(&shard).filter(|held| now < held.trusted_until);
            held.map(|held| held.epoch)
        })
    }

    /// From now on the shard is only marked. False: it was not ours under this epoch.
    pub fn hand_over(&self, shard: i32, epoch: i64) -> bool {
        let mut map = self.map();
        let Some(held) = map.get(&shard).filter(|held| held.epoch == epoch).copied() else {
            return false;
        };
        self.handed_over().insert(shard, held);
        map.remove(&shard);
        self.changed.notify_one();
        true
    }

    /// Shards that are only marked, with their epochs.
    pub fn all_handed_over(&self) -> Vec<(i32, i64)> {
        let map = self.handed_over();
        map.iter().map(|(shard, held)| (*shard, held.epoch)).collect()
    }

    /// Another holder is there, or it is ours anew.
    pub fn forget_handed_over(&self, shard: i32) {
        self.handed_over().remove(&shard);
    }

    pub fn all(&self) -> BTreeMap<i32, Held> {
        self.map().clone()
    }

    pub fn put(&self, shard: i32, held: Held) {
        self.map().insert(shard, held);
        self.forget_handed_over(shard);
        self.changed.notify_one();
    }

    /// A claim or a renewal went through: trusted anew, if it is still the same epoch.
    pub fn renewed(&self, shard: i32, epoch: i64, asked: Duration, trust: Duration) {
        if let Some(held) = self.map().get_mut(&shard).filter(|held| held.epoch == epoch) {
            held.trusted_until = held.trusted_until.max(asked + trust);
            held.renewed = held.renewed.max(asked);
        }
    }

    /// The locks of these shards were asked for, with whatever answer.
    pub fn lock_asked(&self, shards: &[i32], asked: Duration) {
        let mut map = self.map();
        for shard in shards {
            if let Some(held) = map.get_mut(shard) {
                held.lock_asked = asked;
            }
        }
    }

    /// True if it was ours under this epoch.
    pub fn drop(&self, shard: i32, epoch: i64) -> bool {
        let mut map = self.map();
        let ours = map.get(&shard).is_some_and(|held| held.epoch == epoch);
        if ours {
            map.remove(&shard);
            self.changed.notify_one();
        }
        ours
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_trusted_for_less_time_than_it_lasts() {
        let second = Duration::from_secs;
        let holdings = Holdings::default();
        holdings.put(3, Held { epoch: 7, trusted_until: second(9), renewed: second(0), lock_asked: second(0) });
        assert_eq!(holdings.epoch(3, second(8)), Some(7));
        assert_eq!(holdings.epoch(3, second(9)), None);
        holdings.renewed(3, 6, second(5), second(9));
        assert_eq!(holdings.epoch(3, second(9)), None, "another epoch's renewal is not ours");
        holdings.renewed(3, 7, second(5), second(9));
        assert_eq!(holdings.epoch(3, second(13)), Some(7));
        assert!(!holdings.drop(3, 6) && holdings.drop(3, 7));
    }

    #[test]
    fn what_was_handed_over_is_marked_until_somebody_has_it() {
        let second = Duration::from_secs;
        let held = |epoch| Held { epoch, trusted_until: second(9), renewed: second(0), lock_asked: second(0) };
        let holdings = Holdings::default();
        holdings.put(3, held(7));
        assert!(!holdings.hand_over(3, 6) && holdings.hand_over(3, 7));
        assert_eq!(holdings.epoch(3, second(1)), None, "not worked");
        assert_eq!(holdings.marking_epoch(3, second(1)), Some(7));
        assert_eq!(holdings.marking_epoch(3, second(9)), None, "nor for ever");
        assert!(holdings.all().is_empty());
        assert_eq!(holdings.all_handed_over(), [(3, 7)]);
        holdings.put(3, held(8));
        assert_eq!(holdings.marking_epoch(3, second(1)), Some(8));
        assert!(holdings.all_handed_over().is_empty());
    }
}
