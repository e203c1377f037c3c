//! How long the runs of a job usually take: the 95th percentile of its recent runs.

use std::collections::{BTreeSet, HashMap};

use carillon_scheduler::Millis;
use carillon_store::{Result, Store};

/// A percentile is looked up again after this time.
const KEPT: Millis = 300_000;
/// Fewer runs say nothing about the usual.
const FEWEST: usize = 20;

/// The percentiles of the jobs that were asked for lately.
#[derive(Default)]
pub struct UsualDurations {
    /// When it was looked up; None: the job has too few runs.
    known: HashMap<i64, (Millis, Option<Millis>)>,
}

impl UsualDurations {
    /// The 95th percentiles of those jobs that have enough runs.
    pub async fn of(&mut self, store: &Store, jobs: BTreeSet<i64>, now: Millis) -> Result<HashMap<i64, Millis>> {
        self.known.retain(|_, (at, _)| (now - *at).abs() < KEPT);
        let new: Vec<i64> = jobs.iter().copied().filter(|job| !self.known.contains_key(job)).collect();
        if !new.is_empty() {
            let mut durations = store.alerts().recent_durations(&new).await?;
            let found = new.into_iter().map(|job| (job, (now, percentile(durations.remove(&job).unwrap_or_default()))));
            self.known.extend(found);
        }
        Ok(jobs.into_iter().filter_map(|job| Some((job, self.known.get(&job)?.1?))).collect())
    }
}

fn percentile(mut durations: Vec<Millis>) -> Option<Millis> {
    durations.sort_unstable();
    let place = (durations.len() * 95).div_ceil(100);
    durations.get(place.checked_sub(1)?).copied().filter(|_| durations.len() >= FEWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_five_of_a_hundred_runs_take_no_longer() {
        assert_eq!(percentile((1..=100).rev().collect()), Some(95));
        assert_eq!(percentile((1..=20).collect()), Some(19));
        assert_eq!(percentile((1..=19).collect()), None, "too few");
        assert_eq!(percentile(vec![]), None);
    }
}
