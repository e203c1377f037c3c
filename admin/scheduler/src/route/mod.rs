//! Which executor of an app gets a run.
//!
//! A strategy is a variant here and, if it has something to say, a file beside this one.

mod random;
mod round_robin;

use crate::words::{first_is_default, words};

words! {
    /// How an executor is chosen.
    pub enum RouteStrategy: "route" {
        /// Each in turn.
        RoundRobin = 0 "round_robin",
        /// The first in the order of addresses.
        First = 1 "first",
        /// Any, with equal chances.
        Random = 2 "random",
        /// All of them; each gets one part.
        Broadcast = 3 "broadcast",
    }
}

first_is_default!(RouteStrategy);

impl RouteStrategy {
    /// One line for the console.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::RoundRobin => "each executor in turn",
            Self::First => "always the first executor that can be reached",
            Self::Random => "any executor, with equal chances",
            Self::Broadcast => "every executor at once, each with its own part",
        }
    }
}

/// The indexes of `candidates` in the order in which they are to be tried. Of `Broadcast` all are meant: the index is
/// the part.
///
/// `candidates` are addresses in ascending order. `ticket` is a counter of the job for `RoundRobin`, a random number
/// for `Random`, and nothing to the others.
pub fn order(strategy: RouteStrategy, candidates: &[&str], ticket: u64) -> Vec<usize> {
    match strategy {
        RouteStrategy::RoundRobin => round_robin::order(candidates.len(), ticket),
        RouteStrategy::Random => random::order(candidates.len(), ticket),
        RouteStrategy::First | RouteStrategy::Broadcast => (0..candidates.len()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_names_every_candidate_once() {
        let candidates = ["http://a", "http://b", "http://c", "http://d"];
        for &strategy in RouteStrategy::ALL {
            for ticket in [0, 1, 7, u64::MAX] {
                let mut order = order(strategy, &candidates, ticket);
                order.sort_unstable();
                assert_eq!(order, [0, 1, 2, 3], "{strategy}");
            }
            assert!(order(strategy, &[], 3).is_empty());
        }
    }

    #[test]
    fn first_and_broadcast_keep_the_order() {
        assert_eq!(order(RouteStrategy::First, &["a", "b"], 9), [0, 1]);
        assert_eq!(order(RouteStrategy::Broadcast, &["a", "b"], 9), [0, 1]);
    }
}
