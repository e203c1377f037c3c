//! What an executor does with a run of a job that it is still running. It is the executor's rule, kept per process,
//! and passed on as it is.

use crate::words::{first_is_default, words};

words! {
    /// A block strategy of the wire.
    pub enum BlockStrategy: "block strategy" {
        /// Runs of one job wait in a queue.
        Serial = 0 "serial",
        /// While one runs, a later one is refused.
        DiscardLater = 1 "discard_later",
        /// A later run stops the one that is running and takes its place.
        CoverEarly = 2 "cover_early",
    }
}

first_is_default!(BlockStrategy);

impl BlockStrategy {
    /// The word of xxl-job's wire (`executorBlockStrategy`).
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Serial => "SERIAL_EXECUTION",
            Self::DiscardLater => "DISCARD_LATER",
            Self::CoverEarly => "COVER_EARLY",
        }
    }

    /// The strategy of a word of the wire.
    pub fn from_wire(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|strategy| strategy.wire() == word)
    }

    /// One line for the console.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Serial => "wait until the earlier run has ended",
            Self::DiscardLater => "refuse the later run while one is running",
            Self::CoverEarly => "stop the earlier run and start the later one",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BlockStrategy;

    #[test]
    fn wire_words_go_both_ways() {
        for &strategy in BlockStrategy::ALL {
            assert_eq!(BlockStrategy::from_wire(strategy.wire()), Some(strategy));
        }
        assert_eq!(BlockStrategy::from_wire("serial"), None);
    }
}
