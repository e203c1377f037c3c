//! The shard of a job, and the shards of each node.

use std::collections::{BTreeMap, BTreeSet};

use md5::{Digest, Md5};

/// The shard of a job: its id modulo the number of shards (at least 1).
pub const fn shard_of(id: i64, count: i32) -> i32 {
    let count = if count < 1 { 1 } else { count as i64 };
    id.rem_euclid(count) as i32
}

/// Every node's fair share of `count` shards: floor or ceiling of shards ÷ nodes for each.
///
/// The result depends only on the set of names, so all nodes that see the same nodes agree without communication. The
/// assignment is rendezvous hashing: the pairs of node and shard are taken by descending weight while both are free, so
/// that few shards move when a node joins or leaves.
pub fn fair_share<'a>(count: i32, nodes: &[&'a str]) -> BTreeMap<&'a str, Vec<i32>> {
    let names: BTreeSet<&str> = nodes.iter().copied().collect();
    let mut shares: BTreeMap<&str, Vec<i32>> = names.iter().map(|&name| (name, Vec::new())).collect();
    let Some(floor) = (count.max(0) as usize).checked_div(names.len()) else {
        return shares;
    };
    let mut extra = count.max(0) as usize % names.len();
    let mut taken = vec![false; count.max(0) as usize];
    for (_, shard, name) in by_weight(count, &names) {
        let share = shares.entry(name).or_default();
        let has_capacity = share.len() < floor || (share.len() == floor && extra > 0);
        if taken[shard as usize] || !has_capacity {
            continue;
        }
        extra -= usize::from(share.len() == floor);
        taken[shard as usize] = true;
        share.push(shard);
    }
    shares.values_mut().for_each(|share| share.sort_unstable());
    shares
}

/// All pairs of node and shard, the heaviest first. A name is hashed once; the rest is mixing of 64-bit numbers.
fn by_weight<'a>(count: i32, names: &BTreeSet<&'a str>) -> Vec<(u64, i32, &'a str)> {
    let mut pairs = Vec::with_capacity(names.len() * count.max(0) as usize);
    for &name in names {
        let digest = Md5::digest(name.as_bytes());
        let seed = digest.iter().take(8).fold(0_u64, |seed, &byte| seed << 8 | u64::from(byte));
        pairs.extend((0..count).map(|shard| (mix(seed ^ mix(shard as u64)), shard, name)));
    }
    pairs.sort_unstable_by(|a, b| b.cmp(a));
    pairs
}

/// The finaliser of splitmix64 (Steele, Lea and Flood, 2014).
pub(crate) const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_never_negative() {
        assert_eq!((shard_of(17, 8), shard_of(-1, 8), shard_of(5, 0)), (1, 7, 0));
    }

    // covers: 6.13
    #[test]
    fn ids_spread_evenly() {
        let mut jobs = [0_i32; 8];
        (1..=100_000).for_each(|id| jobs[shard_of(id, 8) as usize] += 1);
        assert!(jobs.iter().all(|&jobs| jobs == 12_500));
    }

    #[test]
    fn without_nodes_there_are_no_shares() {
        assert!(fair_share(8, &[]).is_empty());
        assert_eq!(fair_share(0, &["a"]), BTreeMap::from([("a", vec![])]));
    }

    #[test]
    fn the_order_of_the_nodes_does_not_matter() {
        let share = fair_share(8, &["b", "a", "c", "a"]);
        assert_eq!(share, fair_share(8, &["c", "b", "a"]));
        assert_eq!(share.values().map(Vec::len).sum::<usize>(), 8);
    }

    #[test]
    fn when_a_node_leaves_few_other_shards_move() {
        let (mut gone, mut moved) = (0, 0);
        for round in 0..200 {
            let names: Vec<String> = (0..5).map(|node| format!("node-{round}-{node}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let (before, after) = (fair_share(64, &names), fair_share(64, &names[1..]));
            gone += before[names[0]].len();
            let new = |name: &str, shard: &i32| !before[name].contains(shard);
            moved +=
                after.iter().map(|(name, share)| share.iter().filter(|shard| new(name, shard)).count()).sum::<usize>();
        }
        assert!(moved * 4 < gone * 5, "{moved} moved for {gone}");
    }
}
