//! Limits on the requests of one caller, a token or an account, so that none can occupy the node alone. Each node counts for
//! itself, in memory.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use parking_lot::Mutex;

/// A caller that was silent may make the requests of this time at once.
const BURST_SECONDS: f64 = 10.0;
/// Callers that are remembered before those are forgotten that have all their requests left.
const KEPT: usize = 10_000;

/// A bucket for each caller that fills at the rate and is emptied by requests.
pub struct RateLimit<K> {
    per_second: f64,
    buckets: Mutex<HashMap<K, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    left: f64,
    /// On the monotonic clock.
    at: Duration,
}

impl<K: Eq + Hash> RateLimit<K> {
    pub fn new(per_second: u32) -> Self {
        Self { per_second: f64::from(per_second), buckets: Mutex::default() }
    }

    /// Counts a request of a caller.
    ///
    /// # Errors
    /// It has made too many: the seconds after which it may make the next one, at least 1.
    pub fn take(&self, caller: K, now: Duration) -> Result<(), u64> {
        self.take_many(caller, 1, now)
    }

    /// Whether a caller may make one more request, which is not counted.
    pub fn has_left(&self, caller: &K, now: Duration) -> bool {
        let buckets = self.buckets.lock();
        buckets.get(caller).is_none_or(|bucket| self.left(bucket, now) >= 1.0)
    }

    fn left(&self, bucket: &Bucket, now: Duration) -> f64 {
        let since = now.saturating_sub(bucket.at).as_secs_f64();
        (bucket.left + since * self.per_second).min(self.per_second * BURST_SECONDS)
    }

    /// Counts several at once. They are allowed while one is: the next one waits until the rate has made up for all.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn take_many(&self, caller: K, count: usize, now: Duration) -> Result<(), u64> {
        let most = self.per_second * BURST_SECONDS;
        let mut buckets = self.buckets.lock();
        let left = |bucket: &Bucket| self.left(bucket, now);
        if buckets.len() >= KEPT {
            buckets.retain(|_, bucket| left(bucket) < most);
        }
        let bucket = buckets.entry(caller).or_insert(Bucket { left: most, at: now });
        *bucket = Bucket { left: left(bucket), at: now };
        if bucket.left < 1.0 {
            return Err(((1.0 - bucket.left) / self.per_second).ceil().max(1.0) as u64);
        }
        bucket.left -= count as f64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: S40, V9
    #[test]
    fn each_caller_has_its_rate_and_what_it_saved() {
        let limit = RateLimit::new(2);
        let at = Duration::from_millis;
        for _ in 0..20 {
            assert_eq!(limit.take("a", at(1_000)), Ok(()));
        }
        assert_eq!(limit.take("a", at(1_000)), Err(1));
        assert_eq!(limit.take("b", at(1_000)), Ok(()), "another one");
        assert_eq!(limit.take("a", at(1_499)), Err(1));
        assert_eq!(limit.take("a", at(1_500)), Ok(()));
        assert_eq!(limit.take("a", at(1_500)), Err(1));
        for _ in 0..20 {
            assert_eq!(limit.take("a", at(100_000)), Ok(()));
        }
        assert_eq!(limit.take("a", at(100_000)), Err(1), "no more than ten seconds are saved");
    }

    #[test]
    fn many_at_once_are_made_up_for() {
        let limit = RateLimit::new(2);
        let at = Duration::from_secs;
        assert_eq!(limit.take_many("a", 50, at(0)), Ok(()), "more than were saved");
        assert_eq!(limit.take("a", at(0)), Err(16));
        assert_eq!(limit.take("a", at(15)), Err(1));
        assert_eq!(limit.take("a", at(16)), Ok(()));
    }

    #[test]
    fn callers_with_all_their_requests_left_are_forgotten() {
        let limit = RateLimit::new(1);
        for caller in 0..KEPT {
            assert_eq!(limit.take(caller, Duration::ZERO), Ok(()));
        }
        assert_eq!(limit.take(KEPT, Duration::from_secs(60)), Ok(()));
        assert_eq!(limit.buckets.lock().len(), 1);
    }
}
