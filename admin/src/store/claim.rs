//! The first committed write: a job's cursor moves and its runs are recorded, in one transaction.
//!
//! Only what the compare-and-set on `job_clock` has won is inserted, and the insert is plain: a key that is there already
//! is an error, never skipped in silence, or an instant could be lost while the cursor moves on.

pub(super) mod text;

use std::collections::HashSet;

use carillon_scheduler::Millis;
use sea_orm::Value;

use super::{Error, Result, Store, Transaction};
use crate::failpoint;

/// A row of `job_clock` that is inside the look-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    pub job_id: i64,
    pub next_fire_at: Millis,
    pub revision: i64,
}

/// A range of instants that will not run, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRange {
    pub from_at: Millis,
    pub to_at: Millis,
    pub count: i64,
    pub policy: &'static str,
    pub reason: &'static str,
}

/// What one job's plan wants recorded.
#[derive(Clone, Debug)]
pub struct Claim {
    pub due: Due,
    /// Run id and instant of each fire, ascending.
    pub fires: Vec<(i64, Millis)>,
    pub skipped: Vec<SkippedRange>,
    /// None: the job never fires again.
    pub next_fire_at: Option<Millis>,
    /// Its fires are counted: so many fewer are left.
    pub counted: bool,
}

/// Under which lease something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder<'a> {
    pub shard: i32,
    pub epoch: i64,
    pub node: &'a str,
    pub ttl_ms: i64,
}

pub(super) const DUE: &str = "SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND next_fire_at <= ? \
     ORDER BY shard, next_fire_at, job_id LIMIT ?";

impl Store {
    /// Jobs of a shard whose cursor is at or before `until`, earliest first.
    pub async fn due_jobs(&self, shard: i32, until: Millis, limit: usize) -> Result<Vec<Due>> {
        let rows = self
            .all(
                self.hot_reads(),
                DUE,
                vec![shard.into(), until.into(), (limit as i64).into()],
            )
            .await?;
        rows.iter()
            .map(|row| {
                Ok(Due {
                    job_id: row.try_get_by_index(0)?,
                    next_fire_at: row.try_get_by_index(1)?,
                    revision: row.try_get_by_index(2)?,
                })
            })
            .collect()
    }

    /// Records a batch under its shard's epoch. Answers the jobs whose cursor or revision had changed meanwhile: nothing
    /// of them is recorded, the next scan sees them anew. `Error::Fenced`: the shard has another holder, nothing is written.
    pub async fn claim(
        &self,
        holder: &Holder<'_>,
        claims: &[Claim],
        now: Millis,
    ) -> Result<HashSet<i64>> {
        let tx = self.begin().await?;
        self.fence(&tx, holder.shard, holder.epoch, now, holder.ttl_ms)
            .await?;
        // Jobs are locked before their cursors, as an edit does it.
        if self.spend(&tx, claims).await? && self.advance(&tx, holder.shard, claims).await? {
            self.record(&tx, holder, claims).await?;
            tx.commit().await?;
            failpoint::hit("after_claim_commit");
            return Ok(HashSet::new());
        }
        tx.rollback().await?;
        self.claim_unchanged(holder, claims, now).await
    }

    /// The long form: locks and compares one by one, and records what is still as it was.
    async fn claim_unchanged(
        &self,
        holder: &Holder<'_>,
        claims: &[Claim],
        now: Millis,
    ) -> Result<HashSet<i64>> {
        let tx = self.begin().await?;
        self.fence(&tx, holder.shard, holder.epoch, now, holder.ttl_ms)
            .await?;
        let mut changed = HashSet::new();
        let mut kept = Vec::new();
        let mut in_lock_order: Vec<_> = claims.iter().collect();
        in_lock_order.sort_unstable_by_key(|claim| claim.due.job_id);
        for claim in in_lock_order.iter().filter(|claim| claim.counted) {
            let text = format!("SELECT id FROM job WHERE id = ?{}", self.for_update());
            self.one(&tx, &text, vec![claim.due.job_id.into()]).await?;
        }
        for claim in in_lock_order {
            if self.is_unchanged(&tx, holder.shard, &claim.due).await? {
                kept.push(claim.clone());
            } else {
                changed.insert(claim.due.job_id);
            }
        }
        if !self.spend(&tx, &kept).await? || !self.advance(&tx, holder.shard, &kept).await? {
            return Err(Error::Corrupt(format!(
                "job_clock of shard {} changed under its lock",
                holder.shard
            )));
        }
        self.record(&tx, holder, &kept).await?;
        tx.commit().await?;
        failpoint::hit("after_claim_commit");
        Ok(changed)
    }

    async fn is_unchanged(&self, tx: &Transaction, shard: i32, due: &Due) -> Result<bool> {
        let text = format!(
            "SELECT revision FROM job_clock WHERE shard = ? AND next_fire_at = ? AND job_id = ?{}",
            self.for_update()
        );
        let key = vec![shard.into(), due.next_fire_at.into(), due.job_id.into()];
        let revision: Option<i64> = self
            .one(tx, &text, key)
            .await?
            .map(|row| row.try_get_by_index(0))
            .transpose()?;
        Ok(revision == Some(due.revision))
    }

    /// Takes the fires off those that are left, or says that a job had fewer than its plan had found.
    async fn spend(&self, tx: &Transaction, claims: &[Claim]) -> Result<bool> {
        let mut counted: Vec<_> = claims
            .iter()
            .filter(|claim| claim.counted && !claim.fires.is_empty())
            .collect();
        counted.sort_unstable_by_key(|claim| claim.due.job_id);
        for claim in counted {
            let fires = claim.fires.len() as i32;
            let text =
                "UPDATE job SET fires_left = fires_left - ? WHERE id = ? AND fires_left >= ?";
            let values = vec![fires.into(), claim.due.job_id.into(), fires.into()];
            if self.execute(tx, text, values).await?.rows_affected() != 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves all cursors, or says that at least one was not where its plan had found it.
    async fn advance(&self, tx: &Transaction, shard: i32, claims: &[Claim]) -> Result<bool> {
        let moving: Vec<_> = claims
            .iter()
            .filter(|claim| claim.next_fire_at.is_some())
            .collect();
        if !moving.is_empty() {
            let values = text::cursors(self.backend, shard, &moving);
            let done = self
                .execute(tx, text::ADVANCE.of(self.backend), values)
                .await?
                .rows_affected();
            if done != moving.len() as u64 && !failpoint::flag("redis_lock_only") {
                return Ok(false);
            }
        }
        for claim in claims.iter().filter(|claim| claim.next_fire_at.is_none()) {
            let text = "DELETE FROM job_clock WHERE shard = ? AND next_fire_at = ? AND job_id = ? AND revision = ?";
            let due = &claim.due;
            let key = vec![
                shard.into(),
                due.next_fire_at.into(),
                due.job_id.into(),
                due.revision.into(),
            ];
            if self.execute(tx, text, key).await?.rows_affected() != 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The records of a claim whose cursors have moved already: how not to do it.
    #[cfg(feature = "failpoints")]
    pub async fn record_late(&self, holder: &Holder<'_>, claim: Claim) -> Result<()> {
        let tx = self.begin().await?;
        self.record(&tx, holder, &[claim]).await?;
        Ok(tx.commit().await?)
    }

    async fn record(&self, tx: &Transaction, holder: &Holder<'_>, claims: &[Claim]) -> Result<()> {
        let fires = claims.iter().map(|claim| claim.fires.len()).sum::<usize>();
        if fires > 0 {
            let values = text::fires(self.backend, holder, claims);
            let done = self
                .execute(tx, text::RECORD.of(self.backend), values)
                .await?
                .rows_affected();
            if done != fires as u64 {
                return Err(Error::Corrupt(format!(
                    "{done} of {fires} runs were recorded: a job row is missing"
                )));
            }
        }
        for claim in claims {
            self.record_skipped(tx, claim.due.job_id, holder.epoch, &claim.skipped)
                .await?;
        }
        Ok(())
    }

    /// Writes down what will not run.
    pub(super) async fn record_skipped(
        &self,
        tx: &Transaction,
        job_id: i64,
        epoch: i64,
        skipped: &[SkippedRange],
    ) -> Result<()> {
        let text = "INSERT INTO misfire (job_id, from_at, to_at, count, policy, reason, epoch) VALUES (?, ?, ?, ?, ?, ?, ?)";
        for range in skipped {
            let values: Vec<Value> = vec![
                job_id.into(),
                range.from_at.into(),
                range.to_at.into(),
                (range.count as i32).into(),
                range.policy.into(),
                range.reason.into(),
                epoch.into(),
            ];
            self.execute(tx, text, values).await?;
        }
        Ok(())
    }
}
