//! The signatures that were here before, for as long as they are valid.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, HashSet};

use crate::signature::{SIGNATURE_WINDOW_MS, Signature, SignatureProblem};

/// Remembers signatures that were right. Those of others are not remembered, so that strangers cannot fill it.
#[derive(Debug)]
pub struct NonceMemory {
    most: usize,
    /// By key id: how many are kept.
    kept: HashMap<String, usize>,
    /// Nonces by second and key id.
    by_second: BTreeMap<i64, HashMap<String, HashSet<u128>>>,
}

impl NonceMemory {
    /// Upper limit of the signatures of each key, some 20 bytes each. A key that has as many is refused: to forget would let old requests
    /// in. The others are not, so that who has one token cannot silence those who have another.
    pub fn new(most: usize) -> Self {
        Self { most, kept: HashMap::new(), by_second: BTreeMap::new() }
    }

    /// Notes a signature that was checked at `now`.
    ///
    /// # Errors
    /// It was here before, or there are too many of its key.
    pub fn note(&mut self, signature: &Signature, now: i64) -> Result<(), SignatureProblem> {
        // A signature made before this one's second is refused by its time.
        let oldest = now.saturating_sub(SIGNATURE_WINDOW_MS).div_euclid(1000);
        while let Some(entry) = self.by_second.first_entry().filter(|entry| *entry.key() < oldest) {
            for (key_id, nonces) in entry.remove() {
                if let Entry::Occupied(mut kept) = self.kept.entry(key_id) {
                    *kept.get_mut() -= nonces.len();
                    if *kept.get() == 0 {
                        kept.remove();
                    }
                }
            }
        }
        let (second, key_id) = (signature.at.div_euclid(1000), &signature.key_id);
        let known = self.by_second.get(&second).and_then(|of_keys| of_keys.get(key_id));
        if known.is_some_and(|nonces| nonces.contains(&signature.nonce)) {
            return Err(SignatureProblem::Repeated);
        }
        let kept = self.kept.entry(key_id.clone()).or_default();
        if *kept >= self.most {
            return Err(SignatureProblem::TooMany);
        }
        *kept += 1;
        self.by_second.entry(second).or_default().entry(key_id.clone()).or_default().insert(signature.nonce);
        Ok(())
    }
}
