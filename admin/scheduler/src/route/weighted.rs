//! Each executor in proportion to its weight.
//!
//! The ticket, times the golden ratio, modulo 1, is a point on a line on which each executor has an interval as long as its
//! weight. Such points are evenly distributed however many there are (a Weyl sequence), so the runs of a heavy executor are
//! interleaved with those of the others, as with smooth weighted round robin, but without state: candidates and weights
//! may change with each run. The ticket modulo the sum of weights would give a heavy executor its runs in a row, and random
//! points would miss the ratio by several per cent in ten thousand runs.

use super::candidate::Candidate;
use crate::shard::mix;

/// The golden ratio's fraction, of 2^64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

pub(super) fn order(candidates: &[Candidate<'_>], ticket: u64) -> Vec<usize> {
    let mut remaining: Vec<usize> = (0..candidates.len()).collect();
    let mut order = Vec::with_capacity(remaining.len());
    let mut point = ticket.wrapping_mul(GOLDEN);
    while !remaining.is_empty() {
        let weights = remaining.iter().map(|index| u64::from(candidates[*index].weight.max(1)));
        let total: u64 = weights.clone().sum();
        let mut rest = ((u128::from(point) * u128::from(total)) >> 64) as u64;
        let mut chosen = 0;
        for weight in weights {
            if rest < weight {
                break;
            }
            rest -= weight;
            chosen += 1;
        }
        order.push(remaining.remove(chosen));
        // The substitutes are chosen by weight too.
        point = mix(point);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(weights: &[u32], runs: u64) -> Vec<u64> {
        let candidates: Vec<_> =
            weights.iter().map(|&weight| Candidate { weight, ..Candidate::new("http://x") }).collect();
        let mut given = vec![0; weights.len()];
        (7..7 + runs).for_each(|ticket| given[order(&candidates, ticket)[0]] += 1);
        given
    }

    // covers: 004-14
    #[test]
    fn one_to_three_within_five_per_cent_over_ten_thousand_fires() {
        let given = shares(&[1, 3], 10_000);
        assert!((2_375..=2_625).contains(&given[0]), "{given:?}");
        assert!((7_125..=7_875).contains(&given[1]), "{given:?}");
        assert!((2_495..=2_505).contains(&given[0]), "and much closer than that: {given:?}");
    }

    #[test]
    fn shares_are_right_after_few_runs_too() {
        assert_eq!(shares(&[1, 3], 40), [10, 30]);
        let given = shares(&[1, 2, 5, 100], 1_080);
        for (given, wanted) in given.iter().zip([10, 20, 50, 1_000]) {
            assert!(given.abs_diff(wanted) <= 4, "{given} for {wanted}");
        }
    }

    #[test]
    fn runs_of_a_heavy_executor_are_interleaved() {
        let candidates = [3, 1].map(|weight| Candidate { weight, ..Candidate::new("http://x") });
        let picks: Vec<usize> = (0..1_000).map(|ticket| order(&candidates, ticket)[0]).collect();
        let longest = picks.chunk_by(|a, b| a == b).map(<[usize]>::len).max();
        assert!(longest <= Some(4), "{longest:?}");
    }
}
