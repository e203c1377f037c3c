//! Where the token of the settings was used from, as this node remembers it.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

const MAX_SOURCES: usize = 1000;

/// Addresses that need no look at the audit any more.
#[derive(Default)]
pub struct TokenSources(Mutex<HashSet<String>>);

impl TokenSources {
    pub fn knows(&self, source: &str) -> bool {
        self.known().contains(source)
    }

    pub fn add(&self, source: &str) {
        let mut known = self.known();
        if known.len() >= MAX_SOURCES {
            known.clear();
        }
        known.insert(source.to_owned());
    }

    fn known(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
