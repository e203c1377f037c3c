//! Keeps the faults on one executor apart. Refused connections close an executor's address for 10 s: a fault that waits
//! for a run there would see none, and count as failed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::random::Random;

/// From the end of a fault on an executor to the start of the next one.
const APART: Duration = Duration::from_secs(15);
/// When all executors have a fault at this moment.
const POLL: Duration = Duration::from_secs(1);

/// When the last fault of each executor ended; `None` while it lasts.
#[derive(Default)]
pub struct Spacing(HashMap<String, Option<Instant>>);

impl Spacing {
    /// One of these executors, which has a fault from now on; or how long to wait until one may have it.
    pub fn begin(&mut self, names: &[String], random: &mut Random, now: Instant) -> Result<String, Duration> {
        let wait = |name: &String| match self.0.get(name) {
            None => Duration::ZERO,
            Some(None) => POLL,
            Some(Some(ended)) => (*ended + APART).saturating_duration_since(now),
        };
        let free: Vec<&String> = names.iter().filter(|name| wait(name).is_zero()).collect();
        let Some(name) = random.pick(&free).map(|name| (*name).clone()) else {
            return Err(names.iter().map(wait).min().unwrap_or(POLL));
        };
        self.0.insert(name.clone(), None);
        Ok(name)
    }

    pub fn end(&mut self, name: &str, now: Instant) {
        if let Some(ended) = self.0.get_mut(name) {
            *ended = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Faults of up to 10 s each, two at once, begun every 3 s if they need not wait: `(executor, start, end)`.
    fn faults(names: &[String], random: &mut Random) -> Vec<(String, Instant, Instant)> {
        let (mut spacing, mut now) = (Spacing::default(), Instant::now());
        let (mut running, mut done): (Vec<(String, Instant, Instant)>, Vec<_>) = (vec![], vec![]);
        while done.len() < 100 {
            now += Duration::from_secs(3);
            for fault in running.extract_if(.., |(_, _, end)| *end <= now) {
                spacing.end(&fault.0, fault.2);
                done.push(fault);
            }
            while running.len() < 2
                && let Ok(name) = spacing.begin(names, random, now)
            {
                running.push((name, now, now + Duration::from_millis(random.between(0, 10_000))));
            }
        }
        done
    }

    #[test]
    fn faults_on_one_executor_are_15_s_apart_and_each_executor_has_some() {
        let names: Vec<String> = ["e1", "e2", "e3", "e4"].map(str::to_owned).to_vec();
        for seed in 0..50 {
            let faults = faults(&names, &mut Random::new(seed));
            for name in &names {
                let mut own: Vec<_> = faults.iter().filter(|(struck, ..)| struck == name).collect();
                own.sort_by_key(|(_, start, _)| *start);
                assert!(own.len() > 2, "{name} of seed {seed} has {} faults", own.len());
                assert!(own.windows(2).all(|two| two[1].1 - two[0].2 >= APART), "{name} of seed {seed}: {own:?}");
            }
        }
    }

    #[test]
    fn while_no_executor_is_free_the_wait_lasts_until_the_first_one_is() {
        let (names, start) = (["e1".to_owned(), "e2".to_owned()], Instant::now());
        let (mut spacing, mut random) = (Spacing::default(), Random::new(1));
        let first = spacing.begin(&names, &mut random, start).unwrap();
        let second = spacing.begin(&names, &mut random, start).unwrap();
        assert_ne!(first, second);
        assert_eq!(spacing.begin(&names, &mut random, start), Err(POLL));
        spacing.end(&first, start);
        spacing.end(&second, start + Duration::from_secs(4));
        let later = start + Duration::from_secs(5);
        assert_eq!(spacing.begin(&names, &mut random, later), Err(Duration::from_secs(10)));
        assert_eq!(spacing.begin(&names, &mut random, start + APART), Ok(first));
    }
}
