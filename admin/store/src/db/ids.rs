//! Ids from blocks (hi-lo): each node takes some at a time, so that they are known before an insert and need no clock.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use foldhash::HashMap;

/// What is left of each kind's block. No lock of it is held across a call of the database but `Block::refill`, for which only those
/// wait who need ids of the same kind.
#[derive(Default)]
pub struct Blocks(Mutex<HashMap<&'static str, Arc<Block>>>);

#[derive(Default)]
pub(crate) struct Block {
    pub(crate) left: Mutex<IdBlock>,
    /// One refill at a time. The number of those that failed: a caller that has waited for one that failed gives up with it, or a
    /// queue of callers would try one after the other, each for as long as a statement may take.
    pub(crate) refill: tokio::sync::Mutex<()>,
    pub(crate) failed: AtomicU64,
}

/// What is left of a block, and when it was taken from the database.
pub(crate) struct IdBlock {
    ids: Range<i64>,
    since: Instant,
    size: i64,
    /// How many ids the next block has; 0: as many as the first of its kind. A block that was used up is followed by one of twice the
    /// size, one of which much was given up by a smaller one: people read a gap in the numbers of runs or jobs as a loss.
    next_size: i64,
}

/// The smallest block after one that was given up.
const SMALLEST: i64 = 10;

impl IdBlock {
    pub(crate) fn new(ids: Range<i64>) -> Self {
        let size = ids.end - ids.start;
        Self { ids, since: Instant::now(), size, next_size: 2 * size }
    }

    /// What is left of a block that is too old is given up.
    fn expire(&mut self, kind: &Kind) {
        let left = self.ids.end - self.ids.start;
        if left > 0 && self.since.elapsed() > kind.age {
            self.next_size = (2 * (self.size - left)).max(SMALLEST);
            self.ids.start = self.ids.end;
        }
    }

    pub(crate) fn next_size(&self, kind: &Kind) -> i64 {
        if self.next_size == 0 { kind.first_block } else { self.next_size.min(kind.largest_block) }
    }
}

impl Default for IdBlock {
    fn default() -> Self {
        Self::new(0..0)
    }
}

impl Block {
    pub(crate) fn take(&self, kind: &Kind, count: usize, taken: &mut Vec<i64>) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.expire(kind);
        let left = &mut left.ids;
        let end = left.end.min(left.start + (count - taken.len()) as i64);
        taken.extend(left.start..end);
        left.start = end;
    }

    /// Ids without a hole, if that many are left.
    pub(crate) fn take_together(&self, kind: &Kind, count: i64) -> Option<Range<i64>> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.expire(kind);
        let (start, end) = (left.ids.start, left.ids.start + count);
        if end > left.ids.end {
            return None;
        }
        left.ids.start = end;
        Some(start..end)
    }

    /// The ids that are left, which no caller gets any more.
    pub(crate) fn take_rest(&self, kind: &Kind) -> Range<i64> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.expire(kind);
        std::mem::take(&mut *left).ids
    }
}

/// A kind of id: its name in `id_block`, its first id, the sizes of its blocks, and the first id that is too large.
pub struct Kind {
    pub(crate) name: &'static str,
    pub(crate) first: i64,
    pub(crate) first_block: i64,
    /// Larger only for a caller that needs more at once.
    pub(crate) largest_block: i64,
    pub(crate) end: i64,
    /// What is left of a block after this time is not used any more.
    pub(crate) age: Duration,
}

/// For the walk over runs in the order of their ids: a lower id is not inserted long after a higher one.
pub const RUN_BLOCK_AGE: Duration = Duration::from_secs(60);

/// The wire's `jobId` is a 32-bit integer in Java.
pub const JOB: Kind =
    Kind { name: "job", first: 1, first_block: SMALLEST, largest_block: 5000, end: 1 << 31, age: Duration::MAX };
/// The wire's `logId` must stay exact in a browser's script.
pub const RUN: Kind =
    Kind { name: "run", first: 1, first_block: SMALLEST, largest_block: 1000, end: DELAYED.first, age: RUN_BLOCK_AGE };
/// Delayed triggers: behind all runs, because their numbers stand for runs, and below what a browser's script keeps exact. Of the
/// sequence of the runs they would use up what the lists of runs look through: ids that no run has.
pub const DELAYED: Kind = Kind {
    name: "delayed",
    first: 1 << 52,
    first_block: SMALLEST,
    largest_block: 1000,
    end: 1 << 53,
    age: Duration::MAX,
};
/// Apps, accounts, alarms, audit entries.
pub const ROW: Kind =
    Kind { name: "row", first: 1, first_block: 100, largest_block: 5000, end: 1 << 53, age: Duration::MAX };

impl Blocks {
    pub(crate) fn of(&self, kind: &Kind) -> Arc<Block> {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.entry(kind.name).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(mut left: IdBlock, taken: i64) -> IdBlock {
        left.ids.start += taken;
        left.since -= RUN_BLOCK_AGE + Duration::from_secs(1);
        left.expire(&RUN);
        left
    }

    #[test]
    fn a_block_is_as_large_as_what_was_used_of_the_one_before() {
        assert_eq!(IdBlock::default().next_size(&RUN), SMALLEST, "a quiet scheduler leaves a small gap");
        let quiet = aged(IdBlock::new(0..1_000), 30);
        assert!(quiet.ids.is_empty());
        assert_eq!(quiet.next_size(&RUN), 60);
        assert_eq!(aged(IdBlock::new(0..60), 1).next_size(&RUN), SMALLEST);
        assert_eq!(IdBlock::new(0..60).next_size(&RUN), 120, "used up within its time");
        assert_eq!(IdBlock::new(0..1_000).next_size(&RUN), 1_000);
        assert_eq!(aged(IdBlock::new(0..1_000), 900).next_size(&RUN), 1_000);
    }
}
