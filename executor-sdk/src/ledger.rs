//! The runs that this executor has, or had a short while ago: the memory behind "already have it".
//!
//! A run stays here until an admin has its result, and 5 minutes more: an admin asks again within seconds of a lost
//! answer, and never about a run whose result it has committed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use carillon_protocol::CallbackItem;

use crate::journal::Recovered;

/// How long a run is remembered after an admin has its result.
pub(crate) const MEMORY: Duration = Duration::from_secs(300);
/// At most so many of those, whatever their age: about 40 MB.
const MEMORY_RUNS: usize = 200_000;

/// Where a run stands.
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

#[derive(Default)]
pub(crate) struct Ledger {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    runs: HashMap<i64, Phase>,
    /// Highest attempt seen of a fire, from the second on, and the run that it was.
    attempts: HashMap<String, (i32, i64)>,
    /// Fire keys of those runs, so that they are forgotten together.
    retries: HashMap<i64, String>,
    /// Acknowledged runs, oldest first.
    done: VecDeque<(Instant, i64)>,
}

impl Ledger {
    /// Enters a run that was not seen before.
    pub(crate) fn begin(&self, log_id: i64, fire_key: Option<&str>, attempt: i32) {
        let mut inner = self.lock();
        inner.runs.insert(log_id, Phase::Queued);
        if let Some(key) = fire_key.filter(|_| attempt > 1) {
            inner.attempts.insert(key.to_owned(), (attempt, log_id));
            inner.retries.insert(log_id, key.to_owned());
        }
    }

    /// Takes a run out again that could not be written down.
    pub(crate) fn forget(&self, log_id: i64) {
        self.lock().forget(log_id);
    }

    pub(crate) fn running(&self, log_id: i64) {
        if let Some(phase) = self.lock().runs.get_mut(&log_id) {
            *phase = Phase::Running;
        }
    }

    /// Keeps a result; `false` if the run has one already, which counts.
    pub(crate) fn finish(&self, item: &CallbackItem) -> bool {
        let mut inner = self.lock();
        match inner.runs.get_mut(&item.log_id) {
            Some(Phase::Finished(_)) => false,
            Some(phase) => {
                *phase = Phase::Finished(item.clone());
                true
            }
            None => false,
        }
    }

    /// Enters what the journal of an earlier process held.
    pub(crate) fn restore(&self, recovered: &Recovered) {
        for (log_id, fire_key, attempt) in &recovered.attempts {
            self.begin(*log_id, Some(fire_key), *attempt);
        }
        let mut inner = self.lock();
        for item in recovered.unreported.iter().chain(&recovered.reported) {
            let phase = Phase::Finished(item.clone());
            inner.runs.insert(item.log_id, phase);
        }
        drop(inner);
        self.acknowledged(recovered.reported.iter().map(|item| item.log_id));
    }

    /// An admin has these results.
    pub(crate) fn acknowledged(&self, ids: impl Iterator<Item = i64>) {
        let mut inner = self.lock();
        let now = Instant::now();
        inner.done.extend(ids.map(|id| (now, id)));
        while let Some(&(at, id)) = inner.done.front() {
            if inner.done.len() <= MEMORY_RUNS && now.duration_since(at) < MEMORY {
                break;
            }
            inner.done.pop_front();
            inner.forget(id);
        }
    }

    pub(crate) fn phase(&self, log_id: i64) -> Option<Phase> {
        self.lock().runs.get(&log_id).cloned()
    }

    /// A higher attempt of this fire than the given one, if one was seen.
    pub(crate) fn higher_attempt(&self, fire_key: &str, attempt: i32) -> Option<i32> {
        let seen = self.lock().attempts.get(fire_key).map(|seen| seen.0);
        seen.filter(|&seen| seen > attempt)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn forget(&mut self, log_id: i64) {
        self.runs.remove(&log_id);
        let Some(key) = self.retries.remove(&log_id) else {
            return;
        };
        if self.attempts.get(&key).is_some_and(|&(_, id)| id == log_id) {
            self.attempts.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ledger, MEMORY_RUNS, Phase};
    use carillon_protocol::CallbackItem;

    fn result(log_id: i64, code: i32) -> CallbackItem {
        CallbackItem { log_id, code, ..CallbackItem::default() }
    }

    #[test]
    fn the_first_result_counts() {
        let ledger = Ledger::default();
        ledger.begin(1, None, 1);
        assert!(ledger.finish(&result(1, 200)));
        assert!(!ledger.finish(&result(1, 500)));
        assert_eq!(ledger.phase(1), Some(Phase::Finished(result(1, 200))));
        assert!(!ledger.finish(&result(2, 200)), "a run that it never had");
    }

    #[test]
    fn lower_attempts_are_known_until_the_run_is_forgotten() {
        let ledger = Ledger::default();
        ledger.begin(5, Some("1:0:2:0"), 3);
        assert_eq!(ledger.higher_attempt("1:0:2:0", 2), Some(3));
        assert_eq!(ledger.higher_attempt("1:0:2:0", 3), None);
        ledger.forget(5);
        assert_eq!(ledger.higher_attempt("1:0:2:0", 2), None);
    }

    #[test]
    fn acknowledged_runs_are_bounded() {
        let ledger = Ledger::default();
        let limit = i64::try_from(MEMORY_RUNS).unwrap();
        (1..=limit + 1).for_each(|id| ledger.begin(id, None, 1));
        ledger.acknowledged(1..=limit);
        assert!(ledger.phase(1).is_some());
        ledger.acknowledged(std::iter::once(limit + 1));
        assert!(ledger.phase(1).is_none() && ledger.phase(2).is_some());
    }
}
