//! xxl-job's consistent hash, with the same results: 100 virtual nodes for each address on a ring of 32-bit numbers, each
//! the first four bytes of an MD5, little endian. A job goes to the first node at or after the hash of its id. An executor
//! that joins or leaves moves only its own jobs.

use std::collections::BTreeMap;

use md5::{Digest, Md5};

use super::candidate::Candidate;

const VIRTUAL_NODES: u32 = 100;

/// The ring of a set of addresses. Building it costs 100 digests an address, so keep it as long as the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashRing {
    /// Position on the ring and index of the address, by position.
    nodes: Vec<(u32, u32)>,
    addresses: usize,
}

impl HashRing {
    /// `addresses` in the order of the candidates: where two nodes collide, the later address wins.
    pub fn new<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut nodes, mut count) = (BTreeMap::new(), 0);
        for (index, address) in (0_u32..).zip(addresses) {
            for node in 0..VIRTUAL_NODES {
                nodes.insert(hash(&format!("SHARD-{address}-NODE-{node}")), index);
            }
            count += 1;
        }
        Self { nodes: nodes.into_iter().collect(), addresses: count }
    }

    /// The indexes of the addresses in the order of a walk round the ring from the job's position: each gets the job when
    /// all before it are gone.
    pub fn order(&self, job_id: i64) -> Vec<usize> {
        let position = hash(&job_id.to_string());
        let start = self.nodes.partition_point(|(node, _)| *node < position);
        let mut seen = vec![false; self.addresses];
        let mut order = Vec::with_capacity(self.addresses);
        for (_, index) in self.nodes[start..].iter().chain(&self.nodes[..start]) {
            if !std::mem::replace(&mut seen[*index as usize], true) {
                order.push(*index as usize);
                if order.len() == self.addresses {
                    break;
                }
            }
        }
        // Addresses whose nodes all collided with later ones.
        order.extend((0..self.addresses).filter(|index| !seen[*index]));
        order
    }
}

fn hash(text: &str) -> u32 {
    let digest = Md5::digest(text.as_bytes());
    u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]])
}

pub(super) fn order(candidates: &[Candidate<'_>], ring: Option<&HashRing>, job_id: i64) -> Vec<usize> {
    match ring.filter(|ring| ring.addresses == candidates.len()) {
        Some(ring) => ring.order(job_id),
        None => HashRing::new(candidates.iter().map(|candidate| candidate.address)).order(job_id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(hash("1"), 943_901_380);
        assert_eq!(hash("42"), 3_905_343_649);
        assert_eq!(hash("SHARD-http://10.0.0.1:9999/-NODE-0"), 3_725_898_238);
    }

    // covers: 004-12
    #[test]
    fn a_node_that_leaves_moves_only_its_keys() {
        let all: Vec<String> = (1..=5).map(|n| format!("http://10.0.0.{n}:9999/")).collect();
        let left: Vec<&str> = all.iter().skip(1).map(String::as_str).collect();
        let (before, after) = (HashRing::new(all.iter().map(String::as_str)), HashRing::new(left.iter().copied()));
        let mut moved = 0;
        for job in 1..=5_000 {
            let (old, new) = (before.order(job), after.order(job));
            if old[0] == 0 {
                moved += 1;
                assert_eq!(all[old[1]], left[new[0]], "job {job} goes to the next on the ring");
            } else {
                assert_eq!(all[old[0]], left[new[0]], "job {job} has no reason to move");
            }
        }
        assert!((500..1_500).contains(&moved), "about a fifth: {moved}");
    }
}
