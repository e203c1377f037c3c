//! The executor with the fewest runs of the job first, as in xxl-job: counted for each job by the node that routes it. One
//! difference: a new executor starts at the least count of the others; xxl-job gives it every run until it has caught up.

use std::collections::BTreeMap;

use super::candidate::Candidate;
use crate::shard::mix;

/// How many runs of one job each address has had.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequency(BTreeMap<String, u64>);

impl Frequency {
    /// Removes executors that are not candidates any more and adds new ones. The first candidates of a job start at pseudo
    /// random counts below their number, so that the jobs of a node do not all begin with the same executor.
    pub fn observe(&mut self, candidates: &[Candidate<'_>], random: u64) {
        self.0.retain(|known, _| candidates.iter().any(|candidate| candidate.address == known));
        let least = self.0.values().min().copied();
        for (index, candidate) in (0_u64..).zip(candidates) {
            if !self.0.contains_key(candidate.address) {
                let start = least.unwrap_or_else(|| mix(random ^ mix(index)) % candidates.len() as u64);
                self.0.insert(candidate.address.to_owned(), start);
            }
        }
    }

    /// Counts a run that was routed to `address`.
    pub fn record_use(&mut self, address: &str) {
        if let Some(count) = self.0.get_mut(address) {
            *count += 1;
        }
    }
}

pub(super) fn order(candidates: &[Candidate<'_>], history: Option<&Frequency>) -> Vec<usize> {
    let count = |index: &usize| history?.0.get(candidates[*index].address).copied();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(count);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn give(history: &mut Frequency, addresses: &[&str], runs: usize) -> Vec<usize> {
        let candidates: Vec<_> = addresses.iter().copied().map(Candidate::new).collect();
        let mut given = vec![0; addresses.len()];
        for _ in 0..runs {
            history.observe(&candidates, 5);
            let first = order(&candidates, Some(history))[0];
            given[first] += 1;
            history.record_use(addresses[first]);
        }
        given
    }

    #[test]
    fn the_least_used_is_next_and_a_new_executor_is_not_flooded() {
        let mut history = Frequency::default();
        let given = give(&mut history, &["a", "b", "c"], 300);
        assert!(given.iter().all(|runs| (98..=102).contains(runs)), "{given:?}");
        let given = give(&mut history, &["a", "b", "c", "d"], 400);
        assert!(given.iter().all(|runs| (98..=102).contains(runs)), "{given:?}");
        assert_eq!(give(&mut history, &["b"], 1), [1]);
        assert_eq!(history.0.len(), 1, "the others are removed");
    }
}
