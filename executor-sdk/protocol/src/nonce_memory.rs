//! The signatures that were here before, for as long as they are valid.

use std::collections::{BTreeMap, HashSet};

use crate::signature::{SIGNATURE_WINDOW_MS, Signature, SignatureProblem};

/// Remembers signatures that were right. Those of others are not remembered, so that strangers cannot fill it.
#[derive(Debug)]
pub struct NonceMemory {
    most: usize,
    kept: usize,
    by_second: BTreeMap<i64, HashSet<u128>>,
}

impl NonceMemory {
    /// At most so many signatures, some 20 bytes each. One that is full refuses what comes: to forget would let old requests in.
    pub fn new(most: usize) -> Self {
        Self { most, kept: 0, by_second: BTreeMap::new() }
    }

    /// Notes a signature that was checked at `now`.
    ///
    /// # Errors
    /// It was here before, or there are too many.
    pub fn note(&mut self, signature: &Signature, now: i64) -> Result<(), SignatureProblem> {
        // A signature made before this one's second is refused by its time.
        let oldest = now.saturating_sub(SIGNATURE_WINDOW_MS).div_euclid(1000);
        while let Some(entry) = self.by_second.first_entry().filter(|entry| *entry.key() < oldest) {
            self.kept -= entry.remove().len();
        }
        let second = signature.at.div_euclid(1000);
        if self.by_second.get(&second).is_some_and(|known| known.contains(&signature.nonce)) {
            return Err(SignatureProblem::Repeated);
        }
        if self.kept >= self.most {
            return Err(SignatureProblem::TooMany);
        }
        self.by_second.entry(second).or_default().insert(signature.nonce);
        self.kept += 1;
        Ok(())
    }
}
