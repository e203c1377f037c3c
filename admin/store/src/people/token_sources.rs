//! Where tokens were used from, as this node remembers it.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::audit::object::AuditObject;
use crate::people::source_network::source_network;

/// Uses that are remembered, some 100 bytes each.
const MAX_SOURCES: usize = 20_000;

/// Uses that need no look at the audit any more, or are being looked for.
#[derive(Default)]
pub(crate) struct TokenSources(Mutex<HashSet<String>>);

impl TokenSources {
    pub(crate) fn knows(&self, key: &str) -> bool {
        self.known().contains(key)
    }

    /// True once: of many requests at the same time one looks at the audit, and the others go on.
    pub(crate) fn claim(&self, key: &str) -> bool {
        let mut known = self.known();
        if known.contains(key) {
            return false;
        }
        if known.len() >= MAX_SOURCES {
            known.clear();
        }
        known.insert(key.to_owned())
    }

    pub(crate) fn forget(&self, key: &str) {
        self.known().remove(key);
    }

    fn known(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The use of a token from a network.
pub(crate) fn key(token: AuditObject, source: &str) -> String {
    format!("{} {} {}", token.kind.as_str(), token.id, source_network(source))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: S37
    #[test]
    fn each_use_is_looked_for_once_and_addresses_of_a_network_are_one() {
        let sources = TokenSources::default();
        let token = AuditObject::executor_token(7, 1);
        let [one, same, other] = ["2001:db8:1:2::1", "2001:db8:1:2::2", "10.0.0.1"].map(|source| key(token, source));
        assert!(sources.claim(&one) && !sources.claim(&same) && sources.claim(&other));
        assert!(sources.claim(&key(AuditObject::executor_token(8, 1), "10.0.0.1")), "another token");
        sources.forget(&same);
        assert!(sources.claim(&one), "it could not be written");
    }
}
