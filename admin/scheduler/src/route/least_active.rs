//! The executor with the fewest open runs first; those with the same number take turns.

use super::candidate::Candidate;
use super::round_robin;

pub(super) fn order(candidates: &[Candidate<'_>], ticket: u64) -> Vec<usize> {
    let mut order = round_robin::order(candidates.len(), ticket);
    order.sort_by_key(|index| candidates[*index].active);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 004-13
    #[test]
    fn the_load_evens_out() {
        // One executor has a backlog, and one ends its runs at half the pace of the others.
        let (mut active, mut given) = ([40_u32, 0, 0, 0], [0_u32; 4]);
        for ticket in 0..4_000_u64 {
            let candidates = active.map(|active| Candidate { active, ..Candidate::new("http://x") });
            let chosen = order(&candidates, ticket)[0];
            active[chosen] += 1;
            given[chosen] += 1;
            let pace = [3, 3, 3, 6];
            for (executor, pace) in pace.into_iter().enumerate() {
                if ticket % pace == 0 {
                    active[executor] = active[executor].saturating_sub(1);
                }
            }
        }
        let (most, least) = (active.iter().max().unwrap(), active.iter().min().unwrap());
        assert!(most - least <= 2, "{active:?}");
        assert!(given[3] * 3 < given[1] * 2, "a slow executor gets fewer runs: {given:?}");
    }

    #[test]
    fn equals_take_turns() {
        let idle = [Candidate::new("a"), Candidate::new("b")];
        assert_eq!([order(&idle, 0)[0], order(&idle, 1)[0], order(&idle, 2)[0]], [0, 1, 0]);
    }
}
