//! Who is tried first at an address that was closed: of the runs that wait for it and have nowhere else to go, the first in their order.

use std::collections::BTreeMap;
use std::time::Duration;

use carillon_scheduler::Place;

/// How long a place is kept after its run was turned away. A run that waits comes back after a second at most; one that does not was
/// cancelled, has gone elsewhere or belongs to another node.
const KEPT: Duration = Duration::from_secs(2);

/// The places, with the end of each on the monotonic clock.
#[derive(Debug, Default)]
pub struct TrialLine(BTreeMap<Place, Duration>);

impl TrialLine {
    pub fn keep(&mut self, place: Place, now: Duration) {
        self.0.insert(place, now + KEPT);
    }

    pub fn leave(&mut self, place: Place) {
        self.0.remove(&place);
    }

    /// The first whose place is kept; drops those before it.
    pub fn first(&mut self, now: Duration) -> Option<Place> {
        while let Some(first) = self.0.first_entry() {
            if now < *first.get() {
                return Some(*first.key());
            }
            first.remove();
        }
        None
    }

    pub fn drop_gone(&mut self, now: Duration) {
        self.0.retain(|_, until| now < *until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_earliest_of_those_that_come_back() {
        let (mut line, second) = (TrialLine::default(), Duration::from_secs);
        line.keep((2_000, 7), second(1));
        line.keep((1_000, 9), second(1));
        line.keep((1_000, 8), second(1));
        assert_eq!(line.first(second(1)), Some((1_000, 8)));
        line.leave((1_000, 8));
        assert_eq!(line.first(second(2)), Some((1_000, 9)));
        line.keep((2_000, 7), second(2));
        assert_eq!(line.first(second(3)), Some((2_000, 7)), "the one before it has not come back");
        line.drop_gone(second(4));
        assert_eq!(line.0.len(), 0);
    }
}
