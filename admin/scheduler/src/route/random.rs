//! A shuffle (Fisher and Yates) by the random number that it is given.

use crate::shard::mix;

pub(super) fn order(candidates: usize, ticket: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates).collect();
    let mut random = ticket;
    for last in (1..candidates).rev() {
        random = mix(random);
        order.swap(last, (random % (last as u64 + 1)) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn chances_are_equal() {
        let mut first = [0_u32; 4];
        (0..40_000).for_each(|ticket| first[order(4, ticket)[0]] += 1);
        assert!(first.iter().all(|&times| (9_500..10_500).contains(&times)), "{first:?}");
    }
}
