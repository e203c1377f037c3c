//! Ids from blocks (hi-lo): each node takes some at a time, so that they are known before an insert and need no clock.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::db::sql::retry;
use crate::{Error, Result, Store};

/// What is left of each kind's block. No lock of it is held across a call of the database but `Block::refill`, for which only those
/// wait who need ids of the same kind.
#[derive(Default)]
pub struct Blocks(Mutex<HashMap<&'static str, Arc<Block>>>);

#[derive(Default)]
struct Block {
    left: Mutex<Range<i64>>,
    /// One refill at a time. The number of those that failed: whoever has waited for one that failed gives up with it, or a
    /// queue of callers would try one after the other, each for as long as a statement may take.
    refill: tokio::sync::Mutex<()>,
    failed: AtomicU64,
}

impl Block {
    fn take(&self, count: usize, taken: &mut Vec<i64>) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let end = left.end.min(left.start + (count - taken.len()) as i64);
        taken.extend(left.start..end);
        left.start = end;
    }
}

/// A kind of id: its name in `id_block`, how many are taken at a time, and the first one that is too large.
pub struct Kind {
    name: &'static str,
    block: i64,
    end: i64,
}

/// The wire's `jobId` is a 32-bit integer in Java.
pub const JOB: Kind = Kind { name: "job", block: 100, end: 1 << 31 };
/// The wire's `logId` must stay exact in a browser's script.
pub const RUN: Kind = Kind { name: "run", block: 1000, end: 1 << 53 };
/// Apps, accounts, alarms, audit entries.
pub const ROW: Kind = Kind { name: "row", block: 100, end: 1 << 53 };

impl Blocks {
    fn of(&self, kind: &Kind) -> Arc<Block> {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.entry(kind.name).or_default().clone()
    }
}

impl Store {
    /// `count` ids that nobody else has or will get; ascending, but not always without holes.
    pub async fn take_ids(&self, kind: &Kind, count: usize) -> Result<Vec<i64>> {
        let block = self.ids.of(kind);
        let mut taken = Vec::with_capacity(count);
        block.take(count, &mut taken);
        while taken.len() < count {
            let failed = block.failed.load(Ordering::Acquire);
            let _refill = block.refill.lock().await;
            block.take(count, &mut taken);
            if taken.len() == count {
                break;
            }
            if block.failed.load(Ordering::Acquire) != failed {
                return Err(Error::Busy);
            }
            let next = self.next_block(kind, (count - taken.len()) as i64).await;
            if next.is_err() {
                block.failed.fetch_add(1, Ordering::AcqRel);
            }
            *block.left.lock().unwrap_or_else(PoisonError::into_inner) = next?;
            block.take(count, &mut taken);
        }
        Ok(taken)
    }

    pub async fn take_id(&self, kind: &Kind) -> Result<i64> {
        Ok(self.take_ids(kind, 1).await?[0])
    }

    async fn next_block(&self, kind: &Kind, wanted: i64) -> Result<Range<i64>> {
        let size = kind.block.max(wanted);
        // Two nodes at once may want the very first block of a kind.
        let next = retry::on_race(|| self.advance_block(kind, size)).await?;
        if next > kind.end {
            return Err(Error::Settings(format!("no {} ids are left below {}", kind.name, kind.end)));
        }
        Ok(next - size..next)
    }

    /// Answers the first id after the block.
    async fn advance_block(&self, kind: &Kind, size: i64) -> Result<i64> {
        let tx = self.begin().await?;
        let text = "UPDATE id_block SET next = next + ? WHERE name = ?";
        if self.execute(&tx, text, values![size, kind.name]).await? == 0 {
            self.insert_rows(&tx, "id_block", "name, next", vec![values![kind.name, 1 + size]]).await?;
        }
        let next = self.tuple(&tx, "SELECT next FROM id_block WHERE name = ?", values![kind.name]).await?;
        tx.commit().await?;
        next.ok_or_else(|| Error::Missing("id block".into()))
    }
}
