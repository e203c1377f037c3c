//! Each in proportion to its weight.
//!
//! The ticket, times the golden ratio, modulo 1, is a point on a line on which each executor has a stretch as long as its
//! weight. Such points lie evenly on any stretch, whatever their number (a Weyl sequence), so a heavy executor's runs are
//! spread out among the others' as smooth weighted round robin does it, but nothing has to be remembered: candidates and
//! weights may change with each run. Taking the ticket modulo the sum of weights would send the heavy one its runs in a
//! row, and random points would miss the ratio by several per cent in ten thousand.

use std::ops::RangeInclusive;

use super::Candidate;

/// What an executor's weight may be.
pub const WEIGHTS: RangeInclusive<u32> = 1..=100;
/// That of an executor for which none is set.
pub const DEFAULT_WEIGHT: u32 = 1;

/// Checks an executor's weight, as an operator or the executor itself gives it.
///
/// # Errors
/// Says what would be right.
pub fn check_weight(weight: i64) -> Result<u32, String> {
    let checked = u32::try_from(weight).ok().filter(|weight| WEIGHTS.contains(weight));
    checked.ok_or_else(|| format!("{weight} is not allowed; {} to {}", WEIGHTS.start(), WEIGHTS.end()))
}

/// The golden ratio's fraction, of 2^64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

pub(super) fn order(candidates: &[Candidate<'_>], ticket: u64) -> Vec<usize> {
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    let mut order = Vec::with_capacity(left.len());
    let mut point = ticket.wrapping_mul(GOLDEN);
    while !left.is_empty() {
        let weights = left.iter().map(|index| u64::from(candidates[*index].weight.max(1)));
        let total: u64 = weights.clone().sum();
        let mut rest = ((u128::from(point) * u128::from(total)) >> 64) as u64;
        let mut place = 0;
        for weight in weights {
            if rest < weight {
                break;
            }
            rest -= weight;
            place += 1;
        }
        order.push(left.remove(place));
        // Substitutes fall by weight too.
        point = crate::shard::mix(point);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(weights: &[u32], runs: u64) -> Vec<u64> {
        let candidates: Vec<_> =
            weights.iter().map(|&weight| Candidate { weight, ..Candidate::at("http://x") }).collect();
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
        assert!((2_495..=2_505).contains(&given[0]), "and far closer than that: {given:?}");
    }

    #[test]
    fn weights_are_whole_and_small() {
        assert_eq!((check_weight(1), check_weight(100)), (Ok(1), Ok(100)));
        assert_eq!(check_weight(0), Err("0 is not allowed; 1 to 100".to_owned()));
        assert!(check_weight(101).is_err() && check_weight(i64::MIN).is_err());
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
    fn nobody_gets_his_runs_in_a_row() {
        let candidates = [3, 1].map(|weight| Candidate { weight, ..Candidate::at("http://x") });
        let picks: Vec<usize> = (0..1_000).map(|ticket| order(&candidates, ticket)[0]).collect();
        let longest = picks.chunk_by(|a, b| a == b).map(<[usize]>::len).max();
        assert!(longest <= Some(4), "{longest:?}");
    }
}
