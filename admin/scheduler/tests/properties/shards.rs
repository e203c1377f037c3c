//! Shares of shards.

use carillon_scheduler::fair_share;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    // covers: 001-42, 004-11
    #[test]
    fn shares_differ_by_at_most_one_and_few_shards_move(
        count in 0_i32..300, nodes in prop::collection::btree_set("[a-z0-9]{4,12}", 2..12),
    ) {
        let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let shares = fair_share(count, &names);
        let sizes: Vec<usize> = shares.values().map(Vec::len).collect();
        prop_assert!(sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0) <= 1);
        let mut all: Vec<i32> = shares.values().flatten().copied().collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..count).collect::<Vec<_>>());

        let fewer = fair_share(count, &names[1..]);
        let gone = shares[names[0]].len();
        let moved = fewer.iter().map(|(name, share)| share.iter().filter(|s| !shares[name].contains(s)).count());
        let moved = moved.sum::<usize>();
        prop_assert!(moved <= 2 * gone + names.len(), "{moved} of {count} moved for {gone}, {} nodes", names.len());
    }
}
