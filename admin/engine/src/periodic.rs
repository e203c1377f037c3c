//! What a service does now and then, however often it is woken.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::settings::ms;

/// When it was last done, ms on the monotonic clock.
pub struct Periodic(AtomicI64);

impl Periodic {
    /// Due at the first question.
    pub const fn at_once() -> Self {
        Self(AtomicI64::new(i64::MIN / 2))
    }

    /// Due when the clock has gone for a period.
    pub const fn after_one() -> Self {
        Self(AtomicI64::new(0))
    }

    /// Whether `every` has passed since it was last due.
    pub fn start_if_due(&self, now: Duration, every: Duration) -> bool {
        let is_due = ms(now) - self.0.load(Ordering::Relaxed) >= ms(every);
        if is_due {
            self.0.store(ms(now), Ordering::Relaxed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_once_in_each_period() {
        let second = Duration::from_secs;
        let (now, later) = (Periodic::at_once(), Periodic::after_one());
        let asked = [0, 9, 10, 19, 20].map(second);
        assert_eq!(asked.map(|at| now.start_if_due(at, second(10))), [true, false, true, false, true]);
        assert_eq!(asked.map(|at| later.start_if_due(at, second(10))), [false, false, true, false, true]);
    }
}
