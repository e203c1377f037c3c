//! The order of the runs that found no room at the executors of their app. The runs themselves stay in the ring, for a moment
//! that is later than the one at which room is likely.

use std::collections::VecDeque;

use carillon_scheduler::Millis;
use foldhash::HashMap;

/// By app: the moment in the ring and the run, the earliest first.
#[derive(Default)]
pub struct DeferredRuns(HashMap<String, VecDeque<(Millis, i64)>>);

impl DeferredRuns {
    pub fn add(&mut self, app: &str, at: Millis, run_id: i64) {
        match self.0.get_mut(app) {
            Some(runs) => {
                // The clock was set back: their moments in the ring lie far ahead, and the order would keep them until then.
                if runs.back().is_some_and(|(last, _)| *last > at) {
                    runs.clear();
                }
                runs.push_back((at, run_id));
            }
            None => drop(self.0.insert(app.to_owned(), VecDeque::from([(at, run_id)]))),
        }
    }

    pub fn pop(&mut self, app: &str) -> Option<i64> {
        let runs = self.0.get_mut(app)?;
        let first = runs.pop_front();
        if runs.is_empty() {
            self.0.remove(app);
        }
        first.map(|(_, run_id)| run_id)
    }

    /// The ring has given out all of this moment and before.
    pub fn remove_until(&mut self, until: Millis) {
        for runs in self.0.values_mut() {
            while runs.front().is_some_and(|(at, _)| *at <= until) {
                runs.pop_front();
            }
        }
        self.0.retain(|_, runs| !runs.is_empty());
    }

    pub fn has(&self, app: &str) -> bool {
        self.0.contains_key(app)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_in_their_order_and_leave_with_the_ring() {
        let mut deferred = DeferredRuns::default();
        for (app, at, run_id) in [("orders", 10, 1), ("orders", 20, 2), ("orders", 30, 3), ("payroll", 10, 4)] {
            deferred.add(app, at, run_id);
        }
        deferred.remove_until(10);
        assert!(deferred.has("orders") && !deferred.has("payroll"));
        assert_eq!([1, 2, 3].map(|_| deferred.pop("orders")), [Some(2), Some(3), None]);
        assert!(!deferred.has("orders"));
    }

    #[test]
    fn a_clock_that_was_set_back_leaves_no_order_that_grows() {
        let mut deferred = DeferredRuns::default();
        deferred.add("orders", 3_600_000, 1);
        deferred.add("orders", 1_000, 2);
        deferred.remove_until(1_000);
        assert!(!deferred.has("orders"));
    }
}
