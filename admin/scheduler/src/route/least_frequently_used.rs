//! The fewest runs of the job first, as xxl-job means it: counted for each job by the node that routes it. One thing is
//! mended: a newcomer begins at the least count of the others, where xxl-job gives it every run until it has caught up.

use std::collections::BTreeMap;

use super::{Candidate, Facts};
use crate::shard::mix;

/// How many runs of one job each address has had.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequency(BTreeMap<String, u64>);

impl Frequency {
    /// Forgets who is not a candidate any more. The first ones begin anywhere below their number, so that the jobs of a
    /// node do not all begin with the same executor.
    pub fn meet(&mut self, candidates: &[Candidate<'_>], random: u64) {
        self.0.retain(|known, _| candidates.iter().any(|candidate| candidate.address == known));
        let least = self.0.values().min().copied();
        for (index, candidate) in (0_u64..).zip(candidates) {
            if !self.0.contains_key(candidate.address) {
                let start = least.unwrap_or_else(|| mix(random ^ mix(index)) % candidates.len() as u64);
                self.0.insert(candidate.address.to_owned(), start);
            }
        }
    }

    /// A run was given to it.
    pub fn used(&mut self, address: &str) {
        if let Some(count) = self.0.get_mut(address) {
            *count += 1;
        }
    }
}

pub(super) fn order(candidates: &[Candidate<'_>], facts: &Facts<'_>) -> Vec<usize> {
    let count = |index: &usize| {
        let history = facts.frequency?;
        history.0.get(candidates[*index].address).copied()
    };
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(count);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn give(history: &mut Frequency, addresses: &[&str], runs: usize) -> Vec<usize> {
        let candidates: Vec<_> = addresses.iter().copied().map(Candidate::at).collect();
        let mut given = vec![0; addresses.len()];
        for _ in 0..runs {
            history.meet(&candidates, 5);
            let facts = Facts { frequency: Some(history), ..Facts::default() };
            let first = order(&candidates, &facts)[0];
            given[first] += 1;
            history.used(addresses[first]);
        }
        given
    }

    #[test]
    fn who_had_least_is_next_and_a_newcomer_is_not_flooded() {
        let mut history = Frequency::default();
        let given = give(&mut history, &["a", "b", "c"], 300);
        assert!(given.iter().all(|runs| (98..=102).contains(runs)), "{given:?}");
        let given = give(&mut history, &["a", "b", "c", "d"], 400);
        assert!(given.iter().all(|runs| (98..=102).contains(runs)), "{given:?}");
        assert_eq!(give(&mut history, &["b"], 1), [1]);
        assert_eq!(history.0.len(), 1, "the others are forgotten");
    }
}
