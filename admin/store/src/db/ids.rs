//! Ids from blocks (hi-lo): each node takes some at a time, so that they are known before an insert and need no clock.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is left of each kind's block. No lock of it is held across a call of the database but `Block::refill`, for which only those
/// wait who need ids of the same kind.
#[derive(Default)]
pub struct Blocks(Mutex<HashMap<&'static str, Arc<Block>>>);

#[derive(Default)]
pub(crate) struct Block {
    pub(crate) left: Mutex<Left>,
    /// One refill at a time. The number of those that failed: a caller that has waited for one that failed gives up with it, or a
    /// queue of callers would try one after the other, each for as long as a statement may take.
    pub(crate) refill: tokio::sync::Mutex<()>,
    pub(crate) failed: AtomicU64,
}

/// What is left of a block, and when it was taken from the database.
pub(crate) struct Left {
    pub(crate) ids: Range<i64>,
    pub(crate) since: Instant,
}

impl Left {
    pub(crate) fn new(ids: Range<i64>) -> Self {
        Self { ids, since: Instant::now() }
    }
}

impl Default for Left {
    fn default() -> Self {
        Self::new(0..0)
    }
}

impl Block {
    pub(crate) fn take(&self, kind: &Kind, count: usize, taken: &mut Vec<i64>) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.since.elapsed() > kind.age {
            left.ids.start = left.ids.end;
        }
        let left = &mut left.ids;
        let end = left.end.min(left.start + (count - taken.len()) as i64);
        taken.extend(left.start..end);
        left.start = end;
    }
}

/// A kind of id: its name in `id_block`, how many are taken at a time, and the first one that is too large.
pub struct Kind {
    pub(crate) name: &'static str,
    pub(crate) block: i64,
    /// The same for a caller that needs more than that: it is likely to come again, and each block is a transaction.
    pub(crate) large_block: i64,
    pub(crate) end: i64,
    /// What is left of a block after this time is not used any more.
    pub(crate) age: Duration,
}

/// For the walk over runs in the order of their ids: a lower id is not inserted long after a higher one.
pub const RUN_BLOCK_AGE: Duration = Duration::from_secs(60);

/// The wire's `jobId` is a 32-bit integer in Java.
pub const JOB: Kind = Kind { name: "job", block: 100, large_block: 5000, end: 1 << 31, age: Duration::MAX };
/// The wire's `logId` must stay exact in a browser's script.
pub const RUN: Kind = Kind { name: "run", block: 1000, large_block: 1000, end: 1 << 53, age: RUN_BLOCK_AGE };
/// Apps, accounts, alarms, audit entries.
pub const ROW: Kind = Kind { name: "row", block: 100, large_block: 5000, end: 1 << 53, age: Duration::MAX };

impl Blocks {
    pub(crate) fn of(&self, kind: &Kind) -> Arc<Block> {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.entry(kind.name).or_default().clone()
    }
}
