//! The runs that this executor has, or had a short while ago: the source of the answer "already have it".
//!
//! A run stays here until an admin has its result, and 5 minutes longer: an admin repeats a request within seconds of a
//! lost answer, and never repeats one whose result it has committed.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use carillon_protocol::CallbackItem;
use parking_lot::Mutex;

/// How long a run is remembered after an admin has its result.
pub(crate) const MEMORY: Duration = Duration::from_secs(300);
/// Limit of acknowledged runs, whatever their age: about 40 MB.
const MEMORY_RUNS: usize = 200_000;

/// Runs at once that no admin has the result of.
pub(crate) const MOST_OPEN: usize = 500_000;

/// The runs of an earlier process, read from its journal.
#[derive(Default)]
pub(crate) struct RecoveredRuns {
    /// Results that no admin has; among them "interrupted" for the runs that had no result.
    pub(crate) unreported: Vec<CallbackItem>,
    /// Results that an admin has.
    pub(crate) reported: Vec<CallbackItem>,
    /// Run id, fire key and attempt of the runs that had a key.
    pub(crate) attempts: Vec<(i64, String, u32)>,
}

/// The phase of a run on this executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Queued,
    Running,
    Finished(CallbackItem),
}

impl Phase {
    /// The word in the header `Carillon-Run-State`.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Finished(_) => "finished",
        }
    }
}

/// The phase of each run, by run id, and the highest attempt of each fire.
#[derive(Default)]
pub(crate) struct SeenRuns {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    runs: HashMap<i64, Phase>,
    /// Highest attempt seen of a fire key, with its run id. First attempts are not recorded.
    attempts: HashMap<String, (u32, i64)>,
    /// Fire keys of the runs in `attempts`, so that both are removed together.
    fire_keys: HashMap<i64, String>,
    /// Acknowledged runs, oldest first.
    acknowledged: VecDeque<(Instant, i64)>,
}

impl SeenRuns {
    /// Adds a run that was not seen before.
    pub(crate) fn insert(&self, log_id: i64, fire_key: Option<&str>, attempt: u32) {
        let mut inner = self.inner.lock();
        inner.runs.insert(log_id, Phase::Queued);
        if let Some(key) = fire_key.filter(|_| attempt > 1) {
            inner.attempts.insert(key.to_owned(), (attempt, log_id));
            inner.fire_keys.insert(log_id, key.to_owned());
        }
    }

    /// Removes a run that could not be written to the journal.
    pub(crate) fn remove(&self, log_id: i64) {
        self.inner.lock().remove(log_id);
    }

    pub(crate) fn set_running(&self, log_id: i64) {
        if let Some(phase) = self.inner.lock().runs.get_mut(&log_id) {
            *phase = Phase::Running;
        }
    }

    /// Stores a result; `false` if the run has one already, which is kept, or is unknown.
    pub(crate) fn finish(&self, item: &CallbackItem) -> bool {
        let mut inner = self.inner.lock();
        match inner.runs.get_mut(&item.log_id) {
            Some(Phase::Finished(_)) => false,
            Some(phase) => {
                *phase = Phase::Finished(item.clone());
                true
            }
            None => false,
        }
    }

    /// Adds the runs of an earlier process.
    pub(crate) fn restore(&self, recovered: &RecoveredRuns) {
        for (log_id, fire_key, attempt) in &recovered.attempts {
            self.insert(*log_id, Some(fire_key), *attempt);
        }
        let mut inner = self.inner.lock();
        for item in recovered.unreported.iter().chain(&recovered.reported) {
            let phase = Phase::Finished(item.clone());
            inner.runs.insert(item.log_id, phase);
        }
        drop(inner);
        self.acknowledge(recovered.reported.iter().map(|item| item.log_id));
    }

    /// Notes that an admin has these results, and forgets runs that were acknowledged long ago.
    pub(crate) fn acknowledge(&self, ids: impl Iterator<Item = i64>) {
        let mut inner = self.inner.lock();
        let now = Instant::now();
        inner.acknowledged.extend(ids.map(|id| (now, id)));
        while let Some(&(at, id)) = inner.acknowledged.front() {
            if inner.acknowledged.len() <= MEMORY_RUNS && now.duration_since(at) < MEMORY {
                break;
            }
            inner.acknowledged.pop_front();
            inner.remove(id);
        }
    }

    /// Whether the number of runs without a result that an admin has is at its limit: another run would use up the memory. The limit is
    /// reached where admins reach this executor, and it reaches none of them.
    pub(crate) fn is_full(&self) -> bool {
        let inner = self.inner.lock();
        inner.runs.len().saturating_sub(inner.acknowledged.len()) >= MOST_OPEN
    }

    pub(crate) fn phase(&self, log_id: i64) -> Option<Phase> {
        self.inner.lock().runs.get(&log_id).cloned()
    }

    /// A higher attempt of this fire than the given one, if one was seen.
    pub(crate) fn higher_attempt(&self, fire_key: &str, attempt: u32) -> Option<u32> {
        let seen = self.inner.lock().attempts.get(fire_key).map(|seen| seen.0);
        seen.filter(|&seen| seen > attempt)
    }
}

impl Inner {
    fn remove(&mut self, log_id: i64) {
        self.runs.remove(&log_id);
        let Some(key) = self.fire_keys.remove(&log_id) else {
            return;
        };
        if self.attempts.get(&key).is_some_and(|&(_, id)| id == log_id) {
            self.attempts.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MEMORY_RUNS, MOST_OPEN, Phase, SeenRuns};
    use carillon_protocol::CallbackItem;

    fn result(log_id: i64, code: i32) -> CallbackItem {
        CallbackItem { log_id, code, ..CallbackItem::default() }
    }

    #[test]
    fn the_first_result_counts() {
        let seen = SeenRuns::default();
        seen.insert(1, None, 1);
        assert!(seen.finish(&result(1, 200)));
        assert!(!seen.finish(&result(1, 500)));
        assert_eq!(seen.phase(1), Some(Phase::Finished(result(1, 200))));
        assert!(!seen.finish(&result(2, 200)), "the run is unknown");
    }

    #[test]
    fn the_highest_attempt_is_known_until_its_run_is_removed() {
        let seen = SeenRuns::default();
        seen.insert(5, Some("1:0:2:0"), 3);
        assert_eq!(seen.higher_attempt("1:0:2:0", 2), Some(3));
        assert_eq!(seen.higher_attempt("1:0:2:0", 3), None);
        seen.remove(5);
        assert_eq!(seen.higher_attempt("1:0:2:0", 2), None);
    }

    // covers: G20
    #[test]
    fn runs_whose_results_no_admin_has_are_bounded() {
        let seen = SeenRuns::default();
        let most = i64::try_from(MOST_OPEN).unwrap();
        (1..most).for_each(|id| seen.insert(id, None, 1));
        assert!(!seen.is_full());
        seen.insert(most, None, 1);
        assert!(seen.is_full());
        seen.acknowledge(1..=1);
        assert!(!seen.is_full());
    }

    #[test]
    fn acknowledged_runs_are_bounded() {
        let seen = SeenRuns::default();
        let limit = i64::try_from(MEMORY_RUNS).unwrap();
        (1..=limit + 1).for_each(|id| seen.insert(id, None, 1));
        seen.acknowledge(1..=limit);
        assert!(seen.phase(1).is_some());
        seen.acknowledge(std::iter::once(limit + 1));
        assert!(seen.phase(1).is_none() && seen.phase(2).is_some());
    }
}
