//! The one whose last run of the job is the longest ago first, as xxl-job means it: remembered for each job by the node
//! that routes it; who is new comes behind those that are known.

use super::{Candidate, Facts};

/// The addresses of one job, the longest unused first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recency(Vec<String>);

impl Recency {
    /// Forgets who is not a candidate any more, and appends who is new.
    pub fn meet(&mut self, candidates: &[Candidate<'_>]) {
        self.0.retain(|known| candidates.iter().any(|candidate| candidate.address == known));
        for candidate in candidates {
            if !self.0.iter().any(|known| known == candidate.address) {
                self.0.push(candidate.address.to_owned());
            }
        }
    }

    /// A run was given to it.
    pub fn used(&mut self, address: &str) {
        if let Some(place) = self.0.iter().position(|known| known == address) {
            self.0[place..].rotate_left(1);
        }
    }
}

pub(super) fn order(candidates: &[Candidate<'_>], facts: &Facts<'_>) -> Vec<usize> {
    let place = |index: &usize| {
        let known = &facts.recency?.0;
        known.iter().position(|known| known == candidates[*index].address)
    };
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(place);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(history: &mut Recency, addresses: &[&str]) -> usize {
        let candidates: Vec<_> = addresses.iter().copied().map(Candidate::at).collect();
        history.meet(&candidates);
        let facts = Facts { recency: Some(history), ..Facts::default() };
        order(&candidates, &facts)[0]
    }

    #[test]
    fn the_longest_unused_is_next() {
        let mut history = Recency::default();
        assert_eq!(next(&mut history, &["a", "b", "c"]), 0);
        history.used("a");
        assert_eq!(next(&mut history, &["a", "b", "c"]), 1);
        history.used("c");
        assert_eq!(next(&mut history, &["a", "b", "c"]), 1, "it was passed over");
        history.used("b");
        assert_eq!(next(&mut history, &["a", "b", "c", "d"]), 0, "who is new comes last");
        assert_eq!(next(&mut history, &["b", "d"]), 0);
        assert_eq!(history.0, ["b", "d"]);
    }
}
