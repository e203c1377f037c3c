//! A shuffle (Fisher and Yates) seeded with the given random number.

use crate::shard::mix;

pub(super) fn order(candidates: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates).collect();
    let mut random = seed;
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
