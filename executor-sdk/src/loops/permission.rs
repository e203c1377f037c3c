//! Until when the last successful renewal lets loops call their handlers.

use std::time::Duration;

use tokio::time::Instant;

use crate::run::wall_clock;

/// The part of a lease that is not trusted, for clocks that run at different rates: a tenth.
const MARGIN: u32 = 10;

/// The moment before a renewal was sent.
///
/// By two clocks, of which the one that says more counts: the monotonic one is stopped while the machine is suspended, and the wall
/// clock can be set.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentAt {
    monotonic: Instant,
    wall_ms: i64,
}

impl SentAt {
    pub(super) fn now() -> Self {
        Self { monotonic: Instant::now(), wall_ms: wall_clock::now_ms() }
    }

    pub(super) fn monotonic(&self) -> Instant {
        self.monotonic
    }

    fn elapsed(&self) -> Duration {
        let wall = wall_clock::now_ms().saturating_sub(self.wall_ms);
        self.monotonic.elapsed().max(Duration::from_millis(u64::try_from(wall).unwrap_or(0)))
    }
}

/// Allows calls for less time than the lease lasts in the database, which counts from later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permission {
    sent: SentAt,
    trusted: Duration,
}

impl Permission {
    /// By a renewal that was sent then and has succeeded.
    pub(super) fn new(sent: SentAt, lease: Duration) -> Self {
        Self { sent, trusted: lease - lease / MARGIN }
    }

    pub(super) fn allows_calls(&self) -> bool {
        self.sent.elapsed() < self.trusted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_lease_is_trusted_for_less_time_than_it_lasts() {
        let permission = Permission::new(SentAt::now(), Duration::from_secs(5));
        assert!(permission.allows_calls());
        tokio::time::advance(Duration::from_millis(4_499)).await;
        assert!(permission.allows_calls());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!permission.allows_calls());
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_the_machine_was_suspended_counts() {
        let sent = SentAt { wall_ms: wall_clock::now_ms() - 60_000, ..SentAt::now() };
        assert!(!Permission::new(sent, Duration::from_secs(5)).allows_calls());
        let set_back = SentAt { wall_ms: wall_clock::now_ms() + 60_000, ..SentAt::now() };
        assert!(Permission::new(set_back, Duration::from_secs(5)).allows_calls());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(!Permission::new(set_back, Duration::from_secs(5)).allows_calls());
    }
}
