//! Items of a run: how many are delivered together, and how many deliveries there are at once.

use crate::words::words;

words! {
    /// What has become of an item.
    pub enum ItemState: "item state" {
        /// It has no outcome yet.
        Waiting = 0 "waiting",
        /// It has succeeded; no later report changes that.
        Succeeded = 1 "succeeded",
        /// It has failed, and is delivered again if its delivery is tried again.
        Retrying = 2 "retrying",
        /// It has failed, and no attempt of its delivery is left.
        Failed = 3 "failed",
    }
}

/// Items of one run at most.
pub const MAX_ITEMS: usize = 100_000;
/// Bytes of all items of one run at most, in JSON.
pub const MAX_BYTES: i64 = 64 << 20;
/// Bytes of the items of one delivery at most, in JSON: parameters have 64 KiB.
pub const DELIVERY_BYTES: i64 = 60 << 10;

/// Deliveries at once for each executor: one that works, and what it takes next without a pause.
const DELIVERIES_OF_EXECUTOR: i64 = 4;
/// Deliveries at once, at most.
const MOST_DELIVERIES: i64 = 1_000;
/// Deliveries of a map for each executor at least, so that they end at about the same time.
const DELIVERIES_TO_SPREAD: i64 = 50;
/// Items of a delivery that the program chooses, at most.
const MOST_CHOSEN: i64 = 100;

/// Deliveries at once, by how many executors are alive.
pub fn window(executors: i64) -> i64 {
    (executors.max(1) * DELIVERIES_OF_EXECUTOR).min(MOST_DELIVERIES)
}

/// Items of a delivery, where the handler has not said it.
pub fn chunk(items: i64, executors: i64) -> i64 {
    (items / (executors.max(1) * DELIVERIES_TO_SPREAD)).clamp(1, MOST_CHOSEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_spread_over_the_executors() {
        assert_eq!((window(0), window(1), window(4), window(900)), (4, 4, 16, 1_000));
        assert_eq!((chunk(1, 1), chunk(49, 1), chunk(1_000, 4), chunk(100_000, 4)), (1, 1, 5, 100));
    }
}
