//! The one that had the job's last run; the first time, and when that one is gone, the order of the hash ring, so that
//! jobs spread over the executors and every node would choose the same.

use super::{Candidate, Facts, consistent_hash};

pub(super) fn order(candidates: &[Candidate<'_>], facts: &Facts<'_>) -> Vec<usize> {
    let mut order = consistent_hash::order(candidates, facts);
    let last = |index: &usize| facts.last == Some(candidates[*index].address);
    if let Some(place) = order.iter().position(last) {
        order[..=place].rotate_right(1);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_while_it_is_there() {
        let all = ["a", "b", "c", "d"].map(Candidate::at);
        let first_time = order(&all, &Facts::default());
        for candidate in all {
            let facts = Facts { last: Some(candidate.address), ..Facts::default() };
            let order = order(&all, &facts);
            assert_eq!(all[order[0]].address, candidate.address);
            let rest: Vec<_> = first_time.iter().filter(|index| **index != order[0]).collect();
            assert_eq!(order[1..].iter().collect::<Vec<_>>(), rest);
        }
        let gone = Facts { last: Some("e"), ..Facts::default() };
        assert_eq!(order(&all, &gone), first_time);
    }
}
