//! Sets of executors that runs could have gone to. There are few of them, and each is kept in the database once; a run
//! notes its set's id. `maintain/idle_sets` deletes those that are not used any more.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use carillon_scheduler::Millis;
use carillon_scheduler::route::HashRing;
use foldhash::HashMap;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use carillon_store as store;
use carillon_store::Store;

/// With more sets than this they are all looked up again.
const CAPACITY: usize = 10_000;
/// A set that is used is renewed in the database after this time, so that it is not taken for one that is not.
const RENEWED_AFTER: Millis = 86_400_000;

pub struct CandidateSet {
    /// A digest of the addresses: every node has the same one without asking, and a mark need not wait for it. Two sets
    /// of 2^63 possible ids meet once in 10^9 years; what is shown of a run would be wrong then, and nothing else.
    pub id: i64,
    addresses: Vec<String>,
    ring: OnceLock<HashRing>,
    /// When this node last wrote it to the database.
    renewed_at: AtomicI64,
}

impl CandidateSet {
    /// For the routes that want it; built once.
    pub fn ring(&self) -> &HashRing {
        self.ring.get_or_init(|| HashRing::new(self.addresses.iter().map(String::as_str)))
    }

    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// It is in the database, and stays there.
    pub fn is_kept(&self, now: Millis) -> bool {
        now - self.renewed_at.load(Ordering::Relaxed) < RENEWED_AFTER
    }
}

/// Writes these down. A failure spoils only what is shown; the next mark tries again.
pub async fn persist(
    sets: impl Iterator<Item = &Arc<CandidateSet>> + Clone,
    store: &Store,
    now: Millis,
) -> store::Result<()> {
    let row = |set: &Arc<CandidateSet>| {
        let addresses = serde_json::to_string(&set.addresses).unwrap_or_default();
        (set.id, addresses)
    };
    let rows: Vec<(i64, String)> = sets.clone().map(row).collect();
    store.runs().persist_candidates(&rows, now).await?;
    for set in sets {
        set.renewed_at.store(now, Ordering::Relaxed);
    }
    Ok(())
}

#[derive(Default)]
pub struct CandidateSets {
    by_id: Mutex<HashMap<i64, Arc<CandidateSet>>>,
    /// The one that was asked for last: most runs of a tick have the same.
    last: Mutex<Option<Arc<CandidateSet>>>,
}

impl CandidateSets {
    /// The set of these addresses, which are in ascending order.
    pub fn of<'a>(&self, addresses: impl Iterator<Item = &'a str> + Clone) -> Arc<CandidateSet> {
        let mut last = self.last.lock();
        match last.as_ref().filter(|set| addresses.clone().eq(set.addresses.iter().map(String::as_str))) {
            Some(set) => set.clone(),
            None => last.insert(self.look_up(addresses)).clone(),
        }
    }

    fn look_up<'a>(&self, addresses: impl Iterator<Item = &'a str> + Clone) -> Arc<CandidateSet> {
        let mut digest = Sha256::new();
        for address in addresses.clone() {
            digest.update(address);
            digest.update("\n");
        }
        let digest = digest.finalize();
        let first = digest.iter().take(8);
        let id = first.fold(0_i64, |id, byte| id << 8 | i64::from(*byte)) & i64::MAX;
        let mut sets = self.by_id.lock();
        if sets.len() >= CAPACITY && !sets.contains_key(&id) {
            sets.clear();
        }
        let set = sets.entry(id).or_insert_with(|| {
            Arc::new(CandidateSet {
                id,
                addresses: addresses.map(str::to_owned).collect(),
                ring: OnceLock::new(),
                renewed_at: AtomicI64::new(Millis::MIN / 2),
            })
        });
        set.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_addresses_are_one_set() {
        let sets = CandidateSets::default();
        let one = sets.of(["http://a/", "http://b/"].into_iter());
        assert!(Arc::ptr_eq(&one, &sets.of(["http://a/", "http://b/"].into_iter())));
        assert_ne!(one.id, sets.of(["http://a/http://b/"].into_iter()).id);
        assert_eq!(one.id, CandidateSets::default().of(["http://a/", "http://b/"].into_iter()).id);
        assert!(one.id >= 0);
    }

    #[test]
    fn a_set_is_renewed_once_a_day() {
        let now = 1_800_000_000_000;
        let set = CandidateSets::default().of(["http://a/"].into_iter());
        assert!(!set.is_kept(now), "it was never written");
        set.renewed_at.store(now, Ordering::Relaxed);
        assert!(set.is_kept(now + RENEWED_AFTER - 1) && !set.is_kept(now + RENEWED_AFTER));
    }
}
