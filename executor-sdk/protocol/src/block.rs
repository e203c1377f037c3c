//! What an executor does with a run while it has another run of the same job.

/// `executorBlockStrategy`: each executor process applies it itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockStrategy {
    /// Wait in the job's queue.
    #[default]
    Serial,
    /// Refuse the new run.
    DiscardLater,
    /// End the running and the queued ones, then start.
    CoverEarly,
}

impl BlockStrategy {
    /// All of them; the first is the default.
    pub const ALL: [Self; 3] = [Self::Serial, Self::DiscardLater, Self::CoverEarly];

    /// The word of the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Serial => "SERIAL_EXECUTION",
            Self::DiscardLater => "DISCARD_LATER",
            Self::CoverEarly => "COVER_EARLY",
        }
    }

    /// Parses the word; any other text means serial, as in Java.
    pub fn from_wire(word: &str) -> Self {
        Self::ALL.into_iter().find(|strategy| strategy.as_str() == word).unwrap_or_default()
    }
}
