//! How long a service waits after an error of the database: a little at first, twice as long with each further one.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);

/// Errors since the last success.
#[derive(Default)]
pub struct Backoff(AtomicU32);

impl Backoff {
    /// Answers when to try again.
    pub fn failed(&self) -> Duration {
        let before = self.0.fetch_add(1, Ordering::Relaxed).min(5);
        (FIRST * 2_u32.pow(before)).min(LONGEST)
    }

    pub fn succeeded(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_from_100_ms_to_2_s_and_begins_anew_after_a_success() {
        let backoff = Backoff::default();
        let paused: Vec<u128> = (0..7).map(|_| backoff.failed().as_millis()).collect();
        assert_eq!(paused, [100, 200, 400, 800, 1_600, 2_000, 2_000]);
        backoff.succeeded();
        assert_eq!(backoff.failed(), FIRST);
    }
}
