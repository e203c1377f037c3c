//! Ids from blocks (hi-lo): each node takes some at a time, so that they are known before an insert and need no clock.

use std::collections::HashMap;
use std::ops::Range;

use tokio::sync::Mutex;

use super::{Error, Result, Store};

#[derive(Default)]
pub struct Blocks(Mutex<HashMap<&'static str, Range<i64>>>);

/// A kind of id: its name in `id_block`, how many are taken at a time, and the first one that is too large.
pub struct Kind {
    name: &'static str,
    block: i64,
    end: i64,
}

/// The wire's `jobId` is a 32-bit integer in Java.
pub const JOB: Kind = Kind {
    name: "job",
    block: 100,
    end: 1 << 31,
};
/// The wire's `logId` must stay exact in a browser's script.
pub const RUN: Kind = Kind {
    name: "run",
    block: 1000,
    end: 1 << 53,
};
/// Apps, accounts, alarms, audit entries.
pub const ROW: Kind = Kind {
    name: "row",
    block: 100,
    end: 1 << 53,
};

impl Store {
    /// `count` ids that nobody else has or will get; ascending, but not always without holes.
    pub async fn take_ids(&self, kind: &Kind, count: usize) -> Result<Vec<i64>> {
        let mut blocks = self.ids.0.lock().await;
        let block = blocks.entry(kind.name).or_insert(0..0);
        let mut taken = Vec::with_capacity(count);
        while taken.len() < count {
            if block.is_empty() {
                *block = self.next_block(kind, (count - taken.len()) as i64).await?;
            }
            let end = block.end.min(block.start + (count - taken.len()) as i64);
            taken.extend(block.start..end);
            block.start = end;
        }
        Ok(taken)
    }

    pub async fn take_id(&self, kind: &Kind) -> Result<i64> {
        Ok(self.take_ids(kind, 1).await?[0])
    }

    async fn next_block(&self, kind: &Kind, wanted: i64) -> Result<Range<i64>> {
        let size = kind.block.max(wanted);
        let mut tries = 0;
        let next = loop {
            match self.advance_block(kind, size).await {
                // Two nodes at once want the very first block of a kind; or a deadlock.
                Err(error)
                    if (error.is_unique_violation() || error.is_lock_conflict()) && tries < 5 =>
                {
                    tries += 1;
                }
                other => break other?,
            }
        };
        if next > kind.end {
            return Err(Error::Settings(format!(
                "no {} ids are left below {}",
                kind.name, kind.end
            )));
        }
        Ok(next - size..next)
    }

    /// Answers the first id after the block.
    async fn advance_block(&self, kind: &Kind, size: i64) -> Result<i64> {
        let tx = self.begin().await?;
        let updated = self
            .execute(
                &tx,
                "UPDATE id_block SET next = next + ? WHERE name = ?",
                vec![size.into(), kind.name.into()],
            )
            .await?;
        if updated.rows_affected() == 0 {
            self.execute(
                &tx,
                "INSERT INTO id_block (name, next) VALUES (?, ?)",
                vec![kind.name.into(), (1 + size).into()],
            )
            .await?;
        }
        let row = self
            .one(
                &tx,
                "SELECT next FROM id_block WHERE name = ?",
                vec![kind.name.into()],
            )
            .await?;
        let next = row
            .ok_or_else(|| Error::Missing("id block".into()))?
            .try_get_by_index(0)?;
        tx.commit().await?;
        Ok(next)
    }
}
