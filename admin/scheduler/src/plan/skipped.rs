use crate::time::Millis;
use crate::words::words;

/// Skipped instants are counted exactly up to this number; a greater count is written as this number.
pub const COUNT_LIMIT: u32 = 10_000;

words! {
    /// Why instants were skipped.
    pub enum SkipReason: "reason" {
        /// Later than the threshold.
        Misfire = 0 "misfire",
        /// Late, and the job runs only the latest of its late instants.
        Coalesced = 1 "coalesced",
    }
}

/// A range of instants that do not run. Both ends are instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// The first of them.
    pub from_at: Millis,
    /// The last of them.
    pub to_at: Millis,
    /// How many; [`COUNT_LIMIT`] means that number or more.
    pub count: u32,
    /// Why.
    pub reason: SkipReason,
}
