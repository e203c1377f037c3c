//! What an executor does with a run of a job that it is still running. Each executor process applies the rule itself; the
//! admin only passes it on.

use crate::words::{first_is_default, words};

words! {
    /// A block strategy of the protocol.
    pub enum BlockStrategy: "block strategy" {
        /// Runs of one job wait in a queue.
        Serial = 0 "serial",
        /// While one runs, a later one is refused.
        DiscardLater = 1 "discard_later",
        /// A later run stops the one that is running and replaces it.
        CoverEarly = 2 "cover_early",
    }
}

first_is_default!(BlockStrategy);

impl BlockStrategy {
    /// One line for the console.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Serial => "wait until the earlier run has ended",
            Self::DiscardLater => "refuse the later run while one is running",
            Self::CoverEarly => "stop the earlier run and start the later one",
        }
    }
}
