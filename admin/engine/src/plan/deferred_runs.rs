//! The order of the runs that found no room at the executors of their app. The runs themselves stay in the ring, for a moment
//! that is later than the one at which room is likely.

use std::collections::{BTreeMap, VecDeque};

use carillon_scheduler::{Millis, Place};
use foldhash::HashMap;

#[derive(Default)]
struct Line {
    /// With the moment in the ring.
    in_order: BTreeMap<Place, Millis>,
    /// The moments in the ring, the earliest first. Those of runs that have left are there until their time.
    moments: VecDeque<(Millis, Place)>,
}

/// By app.
#[derive(Default)]
pub struct DeferredRuns(HashMap<String, Line>);

impl DeferredRuns {
    pub fn add(&mut self, app: &str, place: Place, at: Millis) {
        let line = match self.0.get_mut(app) {
            Some(line) => line,
            None => self.0.entry(app.to_owned()).or_default(),
        };
        // The clock was set back: their moments in the ring lie far ahead, and the order would keep them until then.
        if line.moments.back().is_some_and(|(last, _)| *last > at) {
            *line = Line::default();
        }
        line.in_order.insert(place, at);
        line.moments.push_back((at, place));
    }

    pub fn pop(&mut self, app: &str) -> Option<i64> {
        let line = self.0.get_mut(app)?;
        let first = line.in_order.pop_first();
        if line.in_order.is_empty() {
            self.0.remove(app);
        }
        first.map(|((_, run_id), _)| run_id)
    }

    /// The ring has given out all of this moment and before.
    pub fn remove_until(&mut self, until: Millis) {
        for line in self.0.values_mut() {
            while let Some((at, place)) = line.moments.front().copied().filter(|(at, _)| *at <= until) {
                line.moments.pop_front();
                // It may have been deferred again since.
                if line.in_order.get(&place) == Some(&at) {
                    line.in_order.remove(&place);
                }
            }
        }
        self.0.retain(|_, line| !line.in_order.is_empty());
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
            deferred.add(app, (1_000, run_id), at);
        }
        deferred.remove_until(10);
        assert!(deferred.has("orders") && !deferred.has("payroll"));
        assert_eq!([1, 2, 3].map(|_| deferred.pop("orders")), [Some(2), Some(3), None]);
        assert!(!deferred.has("orders"));
    }

    #[test]
    fn a_priority_is_a_head_start() {
        let mut deferred = DeferredRuns::default();
        for (run_id, order) in [(1, 1_000), (2, 2_000), (3, 2_500 - 2_000), (4, 3_000 - 500)] {
            deferred.add("orders", (order, run_id), 10_000);
        }
        assert_eq!([(); 4].map(|()| deferred.pop("orders")), [3, 1, 2, 4].map(Some));
    }

    #[test]
    fn a_run_that_is_deferred_again_keeps_its_place_until_its_new_moment() {
        let mut deferred = DeferredRuns::default();
        deferred.add("orders", (1_000, 1), 10);
        deferred.add("orders", (1_000, 1), 20);
        deferred.remove_until(10);
        assert!(deferred.has("orders"));
        deferred.remove_until(20);
        assert!(!deferred.has("orders"));
    }

    #[test]
    fn a_clock_that_was_set_back_leaves_no_order_that_grows() {
        let mut deferred = DeferredRuns::default();
        deferred.add("orders", (1, 1), 3_600_000);
        deferred.add("orders", (2, 2), 1_000);
        deferred.remove_until(1_000);
        assert!(!deferred.has("orders"));
    }
}
