//! Shards whose waiting runs are read from the table again, because some may have left the ring without being sent: the answer
//! to a commit was lost, or the lease was not trusted for a moment.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Pipeline;

/// A transaction that this node gave up may still be committed by the server: it waits at most 3 s for a lock. Until then a
/// single look may come too early, so each scan looks.
const UNSETTLED: Duration = Duration::from_secs(4);

/// Until when each shard is read, on the monotonic clock.
#[derive(Default)]
pub struct Reread(Mutex<HashMap<i32, Duration>>);

impl Reread {
    /// From now on, with the next scan.
    pub fn ask(&self, shard: i32, now: Duration) {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.insert(shard, now + UNSETTLED);
    }

    /// Whether this scan of the shard is to read. The last one is the first after the time.
    pub fn is_asked(&self, shard: i32, now: Duration) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(until) = all.get(&shard) else {
            return false;
        };
        if now > *until {
            all.remove(&shard);
        }
        true
    }
}

impl Pipeline {
    /// Something of this shard may wait in its rows alone: its scans look for it, the first one now.
    pub(crate) fn read_again(&self, shard: i32) {
        self.reread.ask(shard, self.clock.monotonic());
        self.job_changed(shard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_read_until_a_lost_commit_must_have_been_settled_and_once_after() {
        let (reread, second) = (Reread::default(), Duration::from_secs);
        assert!(!reread.is_asked(3, second(0)));
        reread.ask(3, second(1));
        assert!(!reread.is_asked(4, second(1)));
        assert!([1, 2, 5, 6].map(second).iter().all(|at| reread.is_asked(3, *at)));
        assert!(!reread.is_asked(3, second(7)));
    }
}
