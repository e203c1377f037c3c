//! How many runs go into one claim: fewer while the database is slow, so that no claim comes near the end of its lease.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Runs of one claim at most, and as long as the database is quick.
const MOST: usize = 500;

pub struct BatchSize(AtomicUsize);

impl Default for BatchSize {
    fn default() -> Self {
        Self(AtomicUsize::new(MOST))
    }
}

impl BatchSize {
    pub fn runs(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// A claim that takes a quarter of the lease is too slow; a thirty-second of it lets the batch grow again.
    pub fn record_duration(&self, time: Duration, ttl: Duration) {
        let runs = self.runs();
        if time > ttl / 4 {
            self.halve();
        } else if time < ttl / 32 && runs < MOST {
            self.0.store((runs * 2).min(MOST), Ordering::Relaxed);
        }
    }

    /// A claim did not end while its lease was trusted, however short that was.
    pub fn halve(&self) {
        self.0.store((self.runs() / 2).max(1), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: H7
    #[test]
    fn a_batch_halves_when_a_claim_takes_a_quarter_of_the_lease() {
        let (batch, ttl) = (BatchSize::default(), Duration::from_secs(10));
        batch.record_duration(Duration::from_millis(2_501), ttl);
        assert_eq!(batch.runs(), 250);
        batch.record_duration(Duration::from_secs(1), ttl);
        assert_eq!(batch.runs(), 250, "neither slow nor quick");
        for _ in 0..20 {
            batch.record_duration(Duration::from_secs(9), ttl);
        }
        assert_eq!(batch.runs(), 1, "never none");
        for _ in 0..20 {
            batch.record_duration(Duration::from_millis(8), ttl);
        }
        assert_eq!(batch.runs(), MOST);
    }

    // covers: F24
    #[test]
    fn a_claim_that_timed_out_halves_the_batch_however_little_time_it_had() {
        let batch = BatchSize::default();
        batch.halve();
        assert_eq!(batch.runs(), 250);
    }
}
