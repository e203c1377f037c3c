//! Shards that this node should work and whose scans do not succeed: another session holds locks on their rows, or their lease cannot be
//! taken. The other shards go on, so operators would not notice without an alarm.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use parking_lot::Mutex;

/// A shard without work is scanned every 10 s.
pub(crate) const STALLED_AFTER: Duration = Duration::from_secs(30);

/// When a scan of each shard has last succeeded, on the monotonic clock.
#[derive(Default)]
pub struct StalledShards(Mutex<Watch>);

#[derive(Default)]
struct Watch {
    checked: Duration,
    shards: BTreeMap<i32, ShardWatch>,
}

struct ShardWatch {
    /// The last success, or when the watch started.
    since: Duration,
    has_succeeded: bool,
    /// Whether an alarm is open; None: an earlier holder may have raised one.
    is_alarmed: Option<bool>,
}

/// What a check has found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// An alarm is due.
    pub(crate) stalled: Vec<i32>,
    /// An alarm that may be open is over.
    pub(crate) worked: Vec<i32>,
    /// The longest time since a success.
    pub(crate) lag: Duration,
}

impl ShardWatch {
    fn new(since: Duration) -> Self {
        Self { since, has_succeeded: false, is_alarmed: None }
    }
}

impl StalledShards {
    /// A round of the shard's scan has ended without an error.
    pub(crate) fn record_success(&self, shard: i32, now: Duration) {
        let mut watch = self.0.lock();
        let watched = watch.shards.entry(shard).or_insert_with(|| ShardWatch::new(now));
        (watched.since, watched.has_succeeded) = (now, true);
    }

    /// Looks at the shards that this node has to work. If it did not look for `pause`, the process or the database was stopped, and the
    /// time counts from now.
    pub(crate) fn check(&self, shards: &BTreeSet<i32>, now: Duration, pause: Duration) -> Found {
        let mut watch = self.0.lock();
        let was_stopped = now.saturating_sub(watch.checked) > pause;
        watch.checked = now;
        watch.shards.retain(|shard, _| shards.contains(shard));
        let mut found = Found::default();
        for shard in shards {
            let watched = watch.shards.entry(*shard).or_insert_with(|| ShardWatch::new(now));
            if was_stopped {
                watched.since = now;
            }
            let lag = now.saturating_sub(watched.since);
            found.lag = found.lag.max(lag);
            if lag >= STALLED_AFTER {
                if watched.is_alarmed != Some(true) {
                    found.stalled.push(*shard);
                }
            } else if watched.has_succeeded && watched.is_alarmed != Some(false) {
                found.worked.push(*shard);
            }
        }
        found
    }

    pub(crate) fn record_alarm(&self, shard: i32, is_open: bool) {
        if let Some(watched) = self.0.lock().shards.get_mut(&shard) {
            watched.is_alarmed = Some(is_open);
            // Only a success after the alarm ends it.
            watched.has_succeeded &= !is_open;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const PAUSE: Duration = Duration::from_secs(10);

    /// One check a second, up to and with this one.
    fn check_until(stalled: &StalledShards, shards: &BTreeSet<i32>, from: u32, to: u32) -> Found {
        (from..=to).map(|second| stalled.check(shards, SECOND * second, PAUSE)).last().unwrap()
    }

    #[test]
    fn a_shard_without_a_success_is_stalled_until_one_comes() {
        let (stalled, shards) = (StalledShards::default(), BTreeSet::from([1, 2]));
        assert_eq!(check_until(&stalled, &shards, 1, 30), Found { lag: SECOND * 29, ..Found::default() });
        stalled.record_success(1, SECOND * 30);
        let found = Found { stalled: vec![2], worked: vec![1], lag: SECOND * 30 };
        assert_eq!(stalled.check(&shards, SECOND * 31, PAUSE), found);
        // What could not be stored is due again.
        assert_eq!(stalled.check(&shards, SECOND * 31, PAUSE), found);
        stalled.record_alarm(1, false);
        stalled.record_alarm(2, true);
        assert_eq!(stalled.check(&shards, SECOND * 32, PAUSE), Found { lag: SECOND * 31, ..Found::default() });
        stalled.record_success(2, SECOND * 33);
        assert_eq!(stalled.check(&shards, SECOND * 33, PAUSE).worked, [2]);
    }

    #[test]
    fn a_pause_of_the_process_does_not_count() {
        let (stalled, shards) = (StalledShards::default(), BTreeSet::from([1]));
        check_until(&stalled, &shards, 1, 25);
        assert_eq!(check_until(&stalled, &shards, 40, 69), Found { lag: SECOND * 29, ..Found::default() });
        assert_eq!(stalled.check(&shards, SECOND * 70, PAUSE).stalled, [1]);
        // Another node has the shard.
        assert_eq!(stalled.check(&BTreeSet::new(), SECOND * 71, PAUSE), Found::default());
        assert_eq!(stalled.check(&shards, SECOND * 72, PAUSE), Found::default());
    }
}
