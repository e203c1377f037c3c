use super::candidate::Candidate;
use super::consistent_hash::{self, HashRing};
use super::least_frequently_used::{self, Frequency};
use super::least_recently_used::{self, Recency};
use super::strategy::RouteStrategy;
use super::{least_active, random, round_robin, sticky, weighted};

/// What a strategy uses besides the candidates. A missing ring is built, a missing history counts as empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct RouteInput<'a> {
    /// The job.
    pub job_id: i64,
    /// A counter of the job: one more for each run.
    pub ticket: u64,
    /// Any number.
    pub random: u64,
    /// The ring of these candidates, for `ConsistentHash` and `Sticky`.
    pub ring: Option<&'a HashRing>,
    /// For `LeastFrequentlyUsed`; it has observed the candidates.
    pub frequency: Option<&'a Frequency>,
    /// For `LeastRecentlyUsed`; it has observed the candidates.
    pub recency: Option<&'a Recency>,
    /// The address of the job's last run, for `Sticky`.
    pub last: Option<&'a str>,
}

/// The indexes of `candidates` in the order in which they are tried. `Broadcast` uses all of them: the position is the
/// broadcast index.
///
/// `candidates` are in ascending order of their addresses, each once.
pub fn order(strategy: RouteStrategy, candidates: &[Candidate<'_>], input: &RouteInput<'_>) -> Vec<usize> {
    let count = candidates.len();
    match strategy {
        RouteStrategy::RoundRobin | RouteStrategy::Label => round_robin::order(count, input.ticket),
        RouteStrategy::Random => random::order(count, input.random),
        RouteStrategy::First | RouteStrategy::Broadcast | RouteStrategy::Failover | RouteStrategy::BusyOver => {
            (0..count).collect()
        }
        RouteStrategy::Last => (0..count).rev().collect(),
        RouteStrategy::ConsistentHash => consistent_hash::order(candidates, input.ring, input.job_id),
        RouteStrategy::LeastFrequentlyUsed => least_frequently_used::order(candidates, input.frequency),
        RouteStrategy::LeastRecentlyUsed => least_recently_used::order(candidates, input.recency),
        RouteStrategy::Weighted => weighted::order(candidates, input.ticket),
        RouteStrategy::LeastActive => least_active::order(candidates, input.ticket),
        RouteStrategy::Sticky => sticky::order(candidates, input.ring, input.job_id, input.last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates<'a>(addresses: &[&'a str]) -> Vec<Candidate<'a>> {
        addresses.iter().copied().map(Candidate::new).collect()
    }

    #[test]
    fn every_strategy_names_every_candidate_once() {
        let candidates = candidates(&["http://a", "http://b", "http://c", "http://d"]);
        for &strategy in RouteStrategy::ALL {
            for number in [0, 1, 7, u64::MAX] {
                let input = RouteInput { job_id: 7, ticket: number, random: number, ..RouteInput::default() };
                let mut order = order(strategy, &candidates, &input);
                order.sort_unstable();
                assert_eq!(order, [0, 1, 2, 3], "{strategy}");
            }
            assert!(order(strategy, &[], &RouteInput::default()).is_empty());
        }
    }

    #[test]
    fn first_last_and_broadcast_go_by_address() {
        let (candidates, input) = (candidates(&["a", "b"]), RouteInput::default());
        assert_eq!(order(RouteStrategy::First, &candidates, &input), [0, 1]);
        assert_eq!(order(RouteStrategy::Broadcast, &candidates, &input), [0, 1]);
        assert_eq!(order(RouteStrategy::Last, &candidates, &input), [1, 0]);
    }
}
