//! How often the database is asked for a token of executors that a node does not know: anyone may send one.

use std::time::Duration;

use carillon_store::source_network;

use crate::web::limits::rate::RateLimit;

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

#[cfg(test)]
mod tests {
    use super::*;

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
