//! The executor whose last run of the job is the longest ago first, as in xxl-job: recorded for each job by the node that
//! routes it. A new executor comes after the known ones.

use super::candidate::Candidate;

/// The addresses of one job, the longest unused first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recency(Vec<String>);

impl Recency {
    /// Removes executors that are not candidates any more, and appends new ones.
    pub fn observe(&mut self, candidates: &[Candidate<'_>]) {
        self.0.retain(|known| candidates.iter().any(|candidate| candidate.address == known));
        for candidate in candidates {
            if !self.0.iter().any(|known| known == candidate.address) {
                self.0.push(candidate.address.to_owned());
            }
        }
    }

    /// Records that a run was routed to `address`.
    pub fn record_use(&mut self, address: &str) {
        if let Some(position) = self.0.iter().position(|known| known == address) {
            self.0[position..].rotate_left(1);
        }
    }
}

pub(super) fn order(candidates: &[Candidate<'_>], history: Option<&Recency>) -> Vec<usize> {
    let position = |index: &usize| history?.0.iter().position(|known| known == candidates[*index].address);
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(position);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(history: &mut Recency, addresses: &[&str]) -> usize {
        let candidates: Vec<_> = addresses.iter().copied().map(Candidate::new).collect();
        history.observe(&candidates);
        order(&candidates, Some(history))[0]
    }

    #[test]
    fn the_longest_unused_is_next() {
        let mut history = Recency::default();
        assert_eq!(next(&mut history, &["a", "b", "c"]), 0);
        history.record_use("a");
        assert_eq!(next(&mut history, &["a", "b", "c"]), 1);
        history.record_use("c");
        assert_eq!(next(&mut history, &["a", "b", "c"]), 1, "it was passed over");
        history.record_use("b");
        assert_eq!(next(&mut history, &["a", "b", "c", "d"]), 0, "a new executor comes last");
        assert_eq!(next(&mut history, &["b", "d"]), 0);
        assert_eq!(history.0, ["b", "d"]);
    }
}
