//! The admin's time, as far as it can be known here.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Answers that count: those of about half a minute.
const SAMPLES: usize = 16;
/// The clocks of admins may differ by this much, in µs.
const ADMINS_DIFFER: i64 = 20_000;

/// The admin's time, carried on the monotonic clock.
///
/// An answer is underway for a while, so its time is behind when it arrives: each estimate is late by that, and none is early. The greatest one of
/// the last answers is the best, until one comes that cannot be so late: then the admin's clock went back. A loop that goes by it fires late by
/// the quickest way of an answer, and never before its instant.
pub(super) struct AdminClock {
    start: Instant,
    /// The admin's time at the start, in µs, by each of the last answers.
    samples: VecDeque<i64>,
}

impl AdminClock {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), samples: VecDeque::new() }
    }

    /// An answer with the admin's time, in ms, has arrived. It was asked for at `sent`.
    pub(super) fn learn(&mut self, admin_now: i64, sent: Instant, arrived: Instant) {
        let sample = admin_now.saturating_mul(1_000).saturating_sub(self.since_start(arrived));
        let underway = self.since_start(arrived).saturating_sub(self.since_start(sent));
        let latest = sample.saturating_add(underway).saturating_add(ADMINS_DIFFER);
        if self.samples.iter().any(|before| *before > latest) {
            self.samples.clear();
        }
        if self.samples.len() == SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// The admin's time at a moment, in µs; `None` before the first answer.
    pub(super) fn at(&self, moment: Instant) -> Option<i64> {
        Some(self.samples.iter().max()?.saturating_add(self.since_start(moment)))
    }

    /// When the admin's time comes to an instant, in ms; at once if it is over.
    pub(super) fn moment_of(&self, instant: i64) -> Option<Instant> {
        let since_start = instant.saturating_mul(1_000).saturating_sub(*self.samples.iter().max()?);
        self.start.checked_add(Duration::from_micros(u64::try_from(since_start).unwrap_or(0)))
    }

    fn since_start(&self, moment: Instant) -> i64 {
        i64::try_from(moment.saturating_duration_since(self.start).as_micros()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_790_000_000_000;

    #[tokio::test(start_paused = true)]
    async fn the_quickest_of_the_last_answers_counts_and_none_is_early() {
        let mut clock = AdminClock::new();
        let start = Instant::now();
        assert_eq!(clock.at(start), None);
        let answer = |clock: &mut AdminClock, at_ms: u64, underway: u64| {
            let sent = start + Duration::from_millis(at_ms);
            clock.learn(NOW + at_ms as i64, sent, sent + Duration::from_millis(underway));
        };
        answer(&mut clock, 0, 80);
        assert_eq!(clock.at(start + Duration::from_millis(80)), Some(NOW * 1_000));
        answer(&mut clock, 1_500, 3);
        assert_eq!(clock.at(start + Duration::from_millis(1_503)), Some((NOW + 1_500) * 1_000));
        answer(&mut clock, 3_000, 900);
        assert_eq!(
            clock.at(start + Duration::from_millis(1_503)),
            Some((NOW + 1_500) * 1_000),
            "a slow one changes nothing"
        );
        assert_eq!(clock.moment_of(NOW + 5_000), Some(start + Duration::from_millis(5_003)));
        assert_eq!(clock.moment_of(0), Some(start), "it is over");
        for number in 0..SAMPLES as u64 {
            answer(&mut clock, 4_000 + number, 50);
        }
        assert_eq!(
            clock.moment_of(NOW + 5_000),
            Some(start + Duration::from_millis(5_050)),
            "what was long ago counts no more"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_back_counts_at_once() {
        let mut clock = AdminClock::new();
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        clock.learn(NOW, start, start);
        clock.learn(NOW + 1_000 - 15, after(1_000), after(1_001));
        assert_eq!(clock.at(after(1_001)), Some((NOW + 1_001) * 1_000), "another admin");
        clock.learn(NOW + 2_000 - 500, after(1_000), after(2_000));
        assert_eq!(clock.at(after(2_000)), Some((NOW + 2_000) * 1_000), "half a second on its way");
        clock.learn(NOW + 3_000 - 60_000, after(2_990), after(3_000));
        assert_eq!(clock.at(after(3_000)), Some((NOW + 3_000 - 60_000) * 1_000));
    }
}
