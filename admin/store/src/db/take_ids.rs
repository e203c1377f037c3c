//! Taking ids from blocks.

use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use crate::db::ids::{self, IdBlock, Kind};
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::store::Store;

impl Store {
    /// `count` ids that no other caller has or will get; ascending, but not always without holes.
    pub async fn take_ids(&self, kind: &Kind, count: usize) -> Result<Vec<i64>> {
        let block = self.ids.of(kind);
        let mut taken = Vec::with_capacity(count);
        block.take(kind, count, &mut taken);
        while taken.len() < count {
            let failed = block.failed.load(Ordering::Acquire);
            let _refill = block.refill.lock().await;
            block.take(kind, count, &mut taken);
            if taken.len() == count {
                break;
            }
            if block.failed.load(Ordering::Acquire) != failed {
                return Err(Error::Busy);
            }
            let size = block.left.lock().unwrap_or_else(PoisonError::into_inner).next_size(kind);
            let next = self.next_block(kind, (count - taken.len()) as i64, size).await;
            if next.is_err() {
                block.failed.fetch_add(1, Ordering::AcqRel);
            }
            *block.left.lock().unwrap_or_else(PoisonError::into_inner) = IdBlock::new(next?);
            block.take(kind, count, &mut taken);
        }
        Ok(taken)
    }

    /// The same without holes: the first one and their number name them all.
    pub(crate) async fn take_range(&self, kind: &Kind, count: usize) -> Result<Range<i64>> {
        if count == 1 {
            let id = self.take_id(kind).await?;
            return Ok(id..id + 1);
        }
        let count = count as i64;
        match self.ids.of(kind).take_together(kind, count) {
            Some(ids) => Ok(ids),
            // A block of its own; what is left of the current one is for others.
            None => self.next_block(kind, count, count).await,
        }
    }

    pub async fn take_id(&self, kind: &Kind) -> Result<i64> {
        Ok(self.take_ids(kind, 1).await?[0])
    }

    /// At an orderly stop: the unused ids of jobs and runs go back, so that the numbers go on without a gap after the next start. Not
    /// if another node has taken a block since, and those of runs only if no other node lives and no summary has passed them: an id
    /// below the cursor of the summaries would never be counted.
    pub async fn return_ids(&self, is_alone: bool) -> Result<()> {
        let text = "UPDATE id_block SET next = ? WHERE name = ? AND next = ?";
        let unpassed = format!("{text} AND NOT EXISTS (SELECT 1 FROM report_cursor WHERE run_id >= ?)");
        let jobs = self.ids.of(&ids::JOB).take_rest(&ids::JOB);
        if !jobs.is_empty() {
            self.execute(&self.write, text, values![jobs.start, ids::JOB.name, jobs.end]).await?;
        }
        let runs = self.ids.of(&ids::RUN).take_rest(&ids::RUN);
        if is_alone && !runs.is_empty() {
            self.execute(&self.write, &unpassed, values![runs.start, ids::RUN.name, runs.end, runs.start]).await?;
        }
        Ok(())
    }

    async fn next_block(&self, kind: &Kind, wanted: i64, size: i64) -> Result<Range<i64>> {
        let size = size.max(wanted);
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
            self.insert_rows(&tx, "id_block", "name, next", vec![values![kind.name, kind.first + size]]).await?;
        }
        let next = self.tuple(&tx, "SELECT next FROM id_block WHERE name = ?", values![kind.name]).await?;
        tx.commit().await?;
        next.ok_or_else(|| Error::Missing("id block".into()))
    }
}
