//! How often the database is asked for a token, or for a session, that a node does not know: anyone may send one.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use carillon_store::source_network;

use carillon_engine::manage::limits::rate::RateLimit;

/// Look-ups a second of one network, and of all together.
const OF_ONE: u32 = 1;
const OF_ALL: u32 = 20;

pub struct TokenLookUps {
    of_one: RateLimit<String>,
    of_all: RateLimit<()>,
}

impl Default for TokenLookUps {
    fn default() -> Self {
        Self { of_one: RateLimit::new(OF_ONE), of_all: RateLimit::new(OF_ALL) }
    }
}

impl TokenLookUps {
    pub fn admit(&self, source: &str, now: Duration) -> bool {
        self.of_one.take(source_network(source), now).is_ok() && self.of_all.take((), now).is_ok()
    }
}

/// Look-ups a second of what people and their programs send, of one network and of all together.
const OF_NETWORK: u32 = 20;
const OF_NETWORKS: u32 = 200;
/// Number of credentials that are remembered. When there are more, all are forgotten and looked up again.
const KNOWN: usize = 10_000;

/// Personal tokens and sessions. A credential that was right before is always looked up, so a flood from the same network does not
/// keep out people who are signed in.
pub struct CredentialLookUps {
    of_network: RateLimit<String>,
    of_all: RateLimit<()>,
    /// Digests under a key of this process.
    known: Mutex<HashSet<u64>>,
    keys: RandomState,
}

impl Default for CredentialLookUps {
    fn default() -> Self {
        let (of_network, of_all) = (RateLimit::new(OF_NETWORK), RateLimit::new(OF_NETWORKS));
        Self { of_network, of_all, known: Mutex::default(), keys: RandomState::new() }
    }
}

impl CredentialLookUps {
    pub fn may_ask(&self, secret: &str, source: &str, now: Duration) -> bool {
        let is_known = self.known().contains(&self.keys.hash_one(secret));
        is_known || self.of_network.has_left(&source_network(source), now) && self.of_all.has_left(&(), now)
    }

    /// The database does not know it. What goes on beyond the rate is refused at its next request.
    pub fn note_wrong(&self, source: &str, now: Duration) {
        let counted = self.of_network.take(source_network(source), now);
        let _ = counted.and(self.of_all.take((), now));
    }

    /// The database knows it.
    pub fn note_right(&self, secret: &str) {
        let mut known = self.known();
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(self.keys.hash_one(secret));
    }

    fn known(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: W21
    #[test]
    fn made_up_credentials_are_looked_up_at_a_rate_and_known_ones_always() {
        let look_ups = CredentialLookUps::default();
        let count = |source: &str, secrets: u32| {
            let asked = (0..secrets).filter(|n| look_ups.may_ask(&format!("{source} {n}"), source, Duration::ZERO));
            asked.inspect(|_| look_ups.note_wrong(source, Duration::ZERO)).count()
        };
        look_ups.note_right("ada's");
        assert_eq!(count("10.0.0.1", 1000), 200);
        assert!(look_ups.may_ask("ada's", "10.0.0.1", Duration::ZERO), "from the same network");
        assert_eq!((1..200).map(|n| count(&format!("10.0.1.{n}"), 100)).sum::<usize>(), 1800, "all together");
        assert!(!look_ups.may_ask("bob's", "10.0.0.1", Duration::ZERO));
    }

    // covers: S17
    #[test]
    fn wrong_tokens_are_looked_up_at_a_rate() {
        let look_ups = TokenLookUps::default();
        let count = |of: &dyn Fn(u32) -> String, from: u64| {
            (0..1000).filter(|n| look_ups.admit(&of(*n), Duration::from_secs(from))).count()
        };
        assert_eq!(count(&|n| format!("2001:db8::{n:x}"), 0), 10, "addresses of one network are one source");
        assert_eq!(count(&|n| format!("2001:db8:0:{:x}::1", n + 1), 0), 190, "all together");
        assert_eq!(count(&|_| "10.0.0.1".to_owned(), 1), 10, "the rate goes on");
    }
}
