//! The executor of the job's last run. For the first run, and when that executor is gone, the order of the hash ring, so
//! that jobs are spread over the executors and every node makes the same choice.

use super::candidate::Candidate;
use super::consistent_hash::{self, HashRing};

pub(super) fn order(
    candidates: &[Candidate<'_>],
    ring: Option<&HashRing>,
    job_id: i64,
    last: Option<&str>,
) -> Vec<usize> {
    let mut order = consistent_hash::order(candidates, ring, job_id);
    let is_last = |index: &usize| last == Some(candidates[*index].address);
    if let Some(position) = order.iter().position(is_last) {
        order[..=position].rotate_right(1);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_executor_is_first_while_it_is_registered() {
        let all = ["a", "b", "c", "d"].map(Candidate::new);
        let first_time = order(&all, None, 0, None);
        for candidate in all {
            let order = order(&all, None, 0, Some(candidate.address));
            assert_eq!(all[order[0]].address, candidate.address);
            let rest: Vec<_> = first_time.iter().filter(|index| **index != order[0]).collect();
            assert_eq!(order[1..].iter().collect::<Vec<_>>(), rest);
        }
        assert_eq!(order(&all, None, 0, Some("e")), first_time, "the last executor is gone");
    }
}
