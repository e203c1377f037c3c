//! The strategies, and what each of them needs from its caller.

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
        /// All of them; each gets its broadcast index.
        Broadcast = 3 "broadcast",
        /// The last in the order of addresses.
        Last = 4 "last",
        /// The one that the hash of the job's id selects on the ring.
        ConsistentHash = 5 "consistent_hash",
        /// The one that has had the fewest runs of the job.
        LeastFrequentlyUsed = 6 "least_frequently_used",
        /// The one whose last run of the job is the longest ago.
        LeastRecentlyUsed = 7 "least_recently_used",
        /// The first that answers a liveness probe.
        Failover = 8 "failover",
        /// The first that has no run of the job.
        BusyOver = 9 "busy_over",
        /// Each in proportion to its weight.
        Weighted = 10 "weighted",
        /// The one with the fewest open runs.
        LeastActive = 11 "least_active",
        /// Always the same one, while it is alive.
        Sticky = 12 "sticky",
        /// In turn among those that have the job's labels.
        Label = 13 "label",
    }
}

first_is_default!(RouteStrategy);

/// The request that is sent to a candidate before it is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// `/beat`: answers whether it is alive.
    Beat,
    /// `/idleBeat`: answers whether it has no run of this job.
    IdleBeat,
}

impl RouteStrategy {
    /// The strategy for deliveries of items of a job with this one: what would send all of them to one executor takes each in turn.
    pub const fn of_items(self) -> Self {
        match self {
            Self::First | Self::Last | Self::Failover | Self::ConsistentHash | Self::Sticky | Self::Broadcast => {
                Self::RoundRobin
            }
            other => other,
        }
    }

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
            Self::Failover => "the first executor that answers a liveness probe before the run",
            Self::BusyOver => "the first executor that has no run of the job; waits while all have one",
            Self::Weighted => "each executor in proportion to its weight",
            Self::LeastActive => "the executor with the fewest open runs of all jobs",
            Self::Sticky => "always the same executor, until it goes away",
            Self::Label => "in turn among the executors that have all labels of the job",
        }
    }

    /// Why the first of the order is the first, for the routing trace of a run.
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

    /// The probe that is sent to the candidates, one after the other, before one of them is chosen.
    pub const fn probe(self) -> Option<Probe> {
        match self {
            Self::Failover => Some(Probe::Beat),
            Self::BusyOver => Some(Probe::IdleBeat),
            _ => None,
        }
    }

    /// Whether a run waits for the first of its order while that executor is only busy, and takes the next one only when
    /// it is unavailable. Other routes take the next one at once.
    pub const fn has_affinity(self) -> bool {
        matches!(self, Self::ConsistentHash | Self::Sticky)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_and_reason_are_one_line() {
        for strategy in RouteStrategy::ALL {
            for line in [strategy.summary(), strategy.why()] {
                assert!((8..=100).contains(&line.len()) && !line.contains('\n'), "{strategy}: {line}");
            }
        }
    }
}
