//! The order of the runs that found no room at the executors of their app. The runs themselves stay in the ring, for a moment
//! that is later than the one at which room is likely.

use std::collections::{HashMap, VecDeque};

use carillon_scheduler::Millis;

/// By app: the moment in the ring and the run, the earliest first.
#[derive(Default)]
pub struct ParkedRuns(HashMap<String, VecDeque<(Millis, i64)>>);

impl ParkedRuns {
    pub fn add(&mut self, app: &str, at: Millis, run_id: i64) {
        match self.0.get_mut(app) {
            Some(runs) => runs.push_back((at, run_id)),
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
        let mut parked = ParkedRuns::default();
        for (app, at, run_id) in [("orders", 10, 1), ("orders", 20, 2), ("orders", 30, 3), ("payroll", 10, 4)] {
            parked.add(app, at, run_id);
        }
        parked.remove_until(10);
        assert!(parked.has("orders") && !parked.has("payroll"));
        assert_eq!([1, 2, 3].map(|_| parked.pop("orders")), [Some(2), Some(3), None]);
        assert!(!parked.has("orders"));
    }
}
