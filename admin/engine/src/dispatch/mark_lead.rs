//! How long before its time a run is marked: about as long as the marks of a tick have taken lately. What a node has marked and
//! not sent is in doubt when it dies, so it marks no earlier than it must.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// For a timer that fires late, and a tick that takes longer than those before it.
const SPARE: Duration = Duration::from_millis(50);

pub struct MarkLead {
    at_most: Duration,
    /// What the longest tick took, forgotten by an eighth with each tick; µs.
    longest: AtomicU64,
}

impl MarkLead {
    /// The longest until ticks were seen.
    pub fn new(at_most: Duration) -> Self {
        Self { at_most, longest: AtomicU64::new(micros(at_most)) }
    }

    pub fn current(&self) -> Duration {
        let longest = Duration::from_micros(self.longest.load(Ordering::Relaxed));
        (SPARE + longest + longest / 2).min(self.at_most)
    }

    /// A tick that had something to mark took this time.
    pub fn record(&self, took: Duration) {
        let before = self.longest.load(Ordering::Relaxed);
        self.longest.store(micros(took.min(self.at_most)).max(before - before / 8), Ordering::Relaxed);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_ticks() {
        let most = Duration::from_millis(200);
        let lead = MarkLead::new(most);
        assert_eq!(lead.current(), most, "nothing is known yet");
        for _ in 0..100 {
            lead.record(Duration::from_millis(10));
        }
        assert_eq!(lead.current(), Duration::from_millis(65));
        lead.record(Duration::from_secs(9));
        assert_eq!(lead.current(), most, "a long tick counts at once, and never for more than the limit");
        lead.record(Duration::from_millis(10));
        assert_eq!(lead.current(), most, "and is forgotten slowly");
    }
}
