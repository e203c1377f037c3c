//! Which executor of an app gets a run.
//!
//! A strategy is a variant here, an arm in [`order`] and, if it has something to say, a file beside this one. Nothing
//! here asks anybody: turns, random numbers, weights, counts and history are values that are given, and what a probing
//! route learns is used by its caller, who asks the candidates in the order that it gets from here.

mod consistent_hash;
mod labels;
mod least_active;
mod least_frequently_used;
mod least_recently_used;
mod random;
mod round_robin;
mod sticky;
mod weighted;

pub use consistent_hash::HashRing;
pub use labels::{LabelError, Labels};
pub use least_frequently_used::Frequency;
pub use least_recently_used::Recency;
pub use weighted::{DEFAULT_WEIGHT, WEIGHTS, check_weight};

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
        /// The last in the order of addresses.
        Last = 4 "last",
        /// The one to which the hash of the job's id falls.
        ConsistentHash = 5 "consistent_hash",
        /// The one that has had the fewest runs of the job.
        LeastFrequentlyUsed = 6 "least_frequently_used",
        /// The one whose last run of the job is the longest ago.
        LeastRecentlyUsed = 7 "least_recently_used",
        /// The first that answers when it is asked whether it is alive.
        Failover = 8 "failover",
        /// The first that is idle with regard to the job.
        BusyOver = 9 "busy_over",
        /// Each in proportion to its weight.
        Weighted = 10 "weighted",
        /// The one with the fewest open runs.
        LeastActive = 11 "least_active",
        /// Always the same one, while it lives.
        Sticky = 12 "sticky",
        /// In turn among those that have the job's labels.
        Label = 13 "label",
    }
}

first_is_default!(RouteStrategy);

/// What an executor is asked before it is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// `/beat`: is it alive?
    Beat,
    /// `/idleBeat`: has it no run of this job?
    IdleBeat,
}

impl RouteStrategy {
    /// One line for the console.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::RoundRobin => "each executor in turn",
            Self::First => "always the first executor that can be reached",
            Self::Random => "any executor, with equal chances",
            Self::Broadcast => "every executor at once, each with its own part",
            Self::Last => "always the last executor that can be reached",
            Self::ConsistentHash => "one executor for each job, by its id; few jobs move when executors come or go",
            Self::LeastFrequentlyUsed => "the executor that has had the fewest runs of the job",
            Self::LeastRecentlyUsed => "the executor whose last run of the job is the longest ago",
            Self::Failover => "the first executor that says it is alive when it is asked before the run",
            Self::BusyOver => "the first executor that says it has no run of the job; waits while all have one",
            Self::Weighted => "each executor in proportion to its weight",
            Self::LeastActive => "the executor with the fewest open runs of all jobs",
            Self::Sticky => "always the same executor, until it goes away",
            Self::Label => "in turn among the executors that have all labels of the job",
        }
    }

    /// Why the first of the order is the first, for the story of a run.
    pub const fn why(self) -> &'static str {
        match self {
            Self::RoundRobin => "it was its turn",
            Self::First => "it is the first by address",
            Self::Random => "drawn by lot",
            Self::Broadcast => "every executor gets a part",
            Self::Last => "it is the last by address",
            Self::ConsistentHash => "the hash of the job's id falls to it",
            Self::LeastFrequentlyUsed => "it had had the fewest runs of the job",
            Self::LeastRecentlyUsed => "its last run of the job was the longest ago",
            Self::Failover => "it was the first to answer that it is alive",
            Self::BusyOver => "it was the first to answer that it is idle",
            Self::Weighted => "its share by weight",
            Self::LeastActive => "it had the fewest open runs",
            Self::Sticky => "the job's runs stay with it",
            Self::Label => "it was its turn among those with the job's labels",
        }
    }

    /// What is asked of the candidates, one after the other in their order, before one of them is chosen.
    pub const fn probe(self) -> Option<Probe> {
        match self {
            Self::Failover => Some(Probe::Beat),
            Self::BusyOver => Some(Probe::IdleBeat),
            _ => None,
        }
    }

    /// A run waits for the first of its order while that one is only busy, and goes on to the next when it is out of
    /// order. Other routes take the next at once.
    pub const fn keeps_to_one(self) -> bool {
        matches!(self, Self::ConsistentHash | Self::Sticky)
    }
}

/// An executor that may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// Exactly as registered.
    pub address: &'a str,
    /// Its share of a weighted route, within [`WEIGHTS`].
    pub weight: u32,
    /// Its open runs, of all jobs.
    pub active: u32,
}

impl<'a> Candidate<'a> {
    /// One with the weight that all have by default, and nothing to do.
    pub const fn at(address: &'a str) -> Self {
        Self { address, weight: DEFAULT_WEIGHT, active: 0 }
    }
}

/// What the routes know besides the candidates. What is not there is made up: a ring is built, a history is empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// The job.
    pub job_id: i64,
    /// A counter of the job: one more for each run.
    pub ticket: u64,
    /// Any number.
    pub random: u64,
    /// The ring of these candidates, for `ConsistentHash` and `Sticky`.
    pub ring: Option<&'a HashRing>,
    /// For `LeastFrequentlyUsed`; it has met the candidates.
    pub frequency: Option<&'a Frequency>,
    /// For `LeastRecentlyUsed`; it has met the candidates.
    pub recency: Option<&'a Recency>,
    /// Where `Sticky` sent the job's last run.
    pub last: Option<&'a str>,
}

/// The indexes of `candidates` in the order in which they are to be tried. Of `Broadcast` all are meant: the index is
/// the part.
///
/// `candidates` are in ascending order of their addresses, each there once.
pub fn order(strategy: RouteStrategy, candidates: &[Candidate<'_>], facts: &Facts<'_>) -> Vec<usize> {
    let count = candidates.len();
    match strategy {
        RouteStrategy::RoundRobin | RouteStrategy::Label => round_robin::order(count, facts.ticket),
        RouteStrategy::Random => random::order(count, facts.random),
        RouteStrategy::First | RouteStrategy::Broadcast | RouteStrategy::Failover | RouteStrategy::BusyOver => {
            (0..count).collect()
        }
        RouteStrategy::Last => (0..count).rev().collect(),
        RouteStrategy::ConsistentHash => consistent_hash::order(candidates, facts),
        RouteStrategy::LeastFrequentlyUsed => least_frequently_used::order(candidates, facts),
        RouteStrategy::LeastRecentlyUsed => least_recently_used::order(candidates, facts),
        RouteStrategy::Weighted => weighted::order(candidates, facts.ticket),
        RouteStrategy::LeastActive => least_active::order(candidates, facts.ticket),
        RouteStrategy::Sticky => sticky::order(candidates, facts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(addresses: &[&'a str]) -> Vec<Candidate<'a>> {
        addresses.iter().copied().map(Candidate::at).collect()
    }

    #[test]
    fn every_strategy_names_every_candidate_once() {
        let candidates = at(&["http://a", "http://b", "http://c", "http://d"]);
        for &strategy in RouteStrategy::ALL {
            for number in [0, 1, 7, u64::MAX] {
                let facts = Facts { job_id: 7, ticket: number, random: number, ..Facts::default() };
                let mut order = order(strategy, &candidates, &facts);
                order.sort_unstable();
                assert_eq!(order, [0, 1, 2, 3], "{strategy}");
            }
            assert!(order(strategy, &[], &Facts::default()).is_empty());
        }
    }

    #[test]
    fn first_last_and_broadcast_go_by_address() {
        let (candidates, facts) = (at(&["a", "b"]), Facts::default());
        assert_eq!(order(RouteStrategy::First, &candidates, &facts), [0, 1]);
        assert_eq!(order(RouteStrategy::Broadcast, &candidates, &facts), [0, 1]);
        assert_eq!(order(RouteStrategy::Last, &candidates, &facts), [1, 0]);
    }

    #[test]
    fn each_says_what_it_does_in_one_line() {
        for strategy in RouteStrategy::ALL {
            for line in [strategy.summary(), strategy.why()] {
                assert!((8..=100).contains(&line.len()) && !line.contains('\n'), "{strategy}: {line}");
            }
        }
    }
}
