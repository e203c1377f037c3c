//! When a failed run is tried again.

/// Exponential back-off with jitter. Retries of many jobs that failed together (an executor was away) spread out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Delay after the first failed attempt, in ms. 0 retries at once, as xxl-job does.
    pub base_ms: i64,
    /// The longest delay before jitter, in ms.
    pub cap_ms: i64,
}

impl Default for RetryPolicy {
    /// 5 s, doubled with each attempt, at most 5 min.
    fn default() -> Self {
        Self {
            base_ms: 5_000,
            cap_ms: 300_000,
        }
    }
}

impl RetryPolicy {
    /// Milliseconds from the failure of attempt `failed_attempt` (1, 2 …) to the next one:
    /// `min(cap, base · 2^(n−1))`, moved by up to ± 20 % by `random01`, a number in `0.0..=1.0`.
    pub fn delay_ms(&self, failed_attempt: i32, random01: f64) -> i64 {
        let doublings = (failed_attempt.max(1) - 1).min(40) as u32;
        let delay = self
            .base_ms
            .max(0)
            .saturating_mul(1 << doublings)
            .min(self.cap_ms.max(0));
        let jitter = 0.8 + 0.4 * random01.clamp(0.0, 1.0);
        (delay as f64 * jitter).round() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::RetryPolicy;

    #[test]
    fn m002_36_delays_double_up_to_the_cap() {
        let policy = RetryPolicy::default();
        let delays: Vec<i64> = (1..=8)
            .map(|attempt| policy.delay_ms(attempt, 0.5))
            .collect();
        assert_eq!(
            delays,
            [
                5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000
            ]
        );
        assert_eq!(policy.delay_ms(i32::MAX, 0.5), 300_000);
    }

    #[test]
    fn jitter_is_at_most_a_fifth() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.delay_ms(1, 0.0), 4_000);
        assert_eq!(policy.delay_ms(1, 1.0), 6_000);
        assert_eq!(policy.delay_ms(1, 7.0), 6_000);
    }

    #[test]
    fn base_zero_retries_at_once() {
        assert_eq!(
            RetryPolicy {
                base_ms: 0,
                cap_ms: 300_000
            }
            .delay_ms(5, 0.9),
            0
        );
    }
}
