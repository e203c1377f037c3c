//! The moments at which marked runs of schedules leave. What has no moment of its own gives way to them: nodes of workflows, items,
//! children and backfills come by the thousand, and would have the processor and the connections just then.

use std::collections::BTreeSet;
use std::time::Duration;

use carillon_scheduler::{Cause, Clock, Millis};
use parking_lot::Mutex;

/// Before a moment: as long as the requests that are under way and what they lead to take to end.
const BEFORE: Millis = 45;
/// After it: as long as a few hundred requests take to leave.
const AFTER: Millis = 10;

/// A run of this cause gives way.
pub const fn gives_way(cause: Cause) -> bool {
    matches!(cause, Cause::Child | Cause::Backfill | Cause::Node | Cause::Item)
}

/// Schedules have whole seconds, so the way is free for most of each second.
#[derive(Default)]
pub struct Departures(Mutex<BTreeSet<Millis>>);

impl Departures {
    /// Runs of schedules are marked that leave at this moment.
    pub fn expect(&self, at: Millis) {
        self.0.lock().insert(at);
    }

    /// When the way is free again, if it is not.
    pub fn free_at(&self, now: Millis) -> Option<Millis> {
        let mut moments = self.0.lock();
        while moments.first().is_some_and(|at| at + AFTER <= now) {
            moments.pop_first();
        }
        moments.first().filter(|at| *at - BEFORE <= now).map(|at| at + AFTER)
    }

    /// Waits until the way is free; never for the next moment too.
    pub async fn give_way(&self, clock: &dyn Clock) {
        let now = clock.now();
        if let Some(free_at) = self.free_at(now) {
            tokio::time::sleep(Duration::from_millis(free_at.abs_diff(now))).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_is_free_but_for_the_moment_itself() {
        let departures = Departures::default();
        departures.expect(2_000);
        departures.expect(1_000);
        departures.expect(1_000);
        let free_at = |now| departures.free_at(now);
        assert_eq!(free_at(1_000 - BEFORE - 1), None);
        assert_eq!(free_at(1_000 - BEFORE), Some(1_000 + AFTER));
        assert_eq!(free_at(1_000 + AFTER - 1), Some(1_000 + AFTER));
        assert_eq!(free_at(1_000 + AFTER), None);
        assert_eq!(free_at(1_999), Some(2_000 + AFTER));
        assert_eq!(free_at(9_000), None, "what has left is forgotten");
        assert!(departures.0.lock().is_empty());
    }
}
