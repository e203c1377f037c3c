//! The first committed write: a job's cursor moves and its runs are recorded, in one transaction.
//!
//! Only what the compare-and-set on `job_clock` has won is inserted, and the insert is plain: a key that is there already
//! is an error, never skipped in silence, or an instant could be lost while the cursor moves on.

use crate::run::claim_statements;
use std::collections::HashSet;

use carillon_scheduler::Millis;
use sea_orm::Value;

use crate::failpoint;
use crate::{Error, Result, Store, Transaction};

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

/// The lower bound keeps PostgreSQL from walking over the places that cursors have left, which it cannot forget while an old
/// snapshot is open.
pub(crate) const DUE: &str = "SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND next_fire_at >= ? AND next_fire_at <= ? \
     ORDER BY shard, next_fire_at, job_id LIMIT ?";

/// Misfire ranges of one statement.
const MISFIRES: usize = 100;
/// Looks at what has changed, before a claim is left to the next scan.
const CHANGES: usize = 3;

impl Store {
    /// Jobs of a shard whose cursor is at or before `until`, earliest first.
    pub async fn due_jobs(&self, shard: i32, until: Millis, limit: usize) -> Result<Vec<Due>> {
        self.due_jobs_from(shard, Millis::MIN, until, limit).await
    }

    /// The same, of those whose cursor is at or after `from`.
    pub async fn due_jobs_from(&self, shard: i32, from: Millis, until: Millis, limit: usize) -> Result<Vec<Due>> {
        let values = vec![shard.into(), from.into(), until.into(), (limit as i64).into()];
        let rows = self.all(self.hot_reads(), DUE, values).await?;
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
    pub async fn claim(&self, holder: &Holder<'_>, claims: &[Claim], now: Millis) -> Result<HashSet<i64>> {
        if self.try_claim(holder, claims, now).await? {
            return Ok(HashSet::new());
        }
        // Some have changed. The others are claimed without them; the compare-and-set sees what changes in between.
        let mut before = None;
        for _ in 0..CHANGES {
            let unchanged = self.unchanged(holder.shard, claims).await?;
            if before.as_ref() == Some(&unchanged) {
                return Err(Error::Corrupt(format!(
                    "a job of shard {} has fewer fires left than its plan has found, and its cursor did not move",
                    holder.shard
                )));
            }
            let is_kept = |claim: &&Claim| unchanged.contains(&claim.due.job_id);
            let kept: Vec<Claim> = claims.iter().filter(is_kept).cloned().collect();
            if self.try_claim(holder, &kept, now).await? {
                let job_ids = claims.iter().map(|claim| claim.due.job_id);
                return Ok(job_ids.filter(|id| !unchanged.contains(id)).collect());
            }
            before = Some(unchanged);
        }
        // Another claimer is faster each time. Nothing is recorded, so all are seen anew.
        Ok(claims.iter().map(|claim| claim.due.job_id).collect())
    }

    /// All of it or nothing: false if a cursor, a revision or what is left of a job's fires is not what its plan had found.
    async fn try_claim(&self, holder: &Holder<'_>, claims: &[Claim], now: Millis) -> Result<bool> {
        let tx = self.begin().await?;
        self.fence(&tx, holder.shard, holder.epoch, now, holder.ttl_ms).await?;
        // Jobs are locked before their cursors, as an edit does it.
        if self.spend(&tx, claims).await? && self.advance(&tx, holder.shard, claims).await? {
            self.record(&tx, holder, claims).await?;
            tx.commit().await?;
            failpoint::hit("after_claim_commit");
            return Ok(true);
        }
        tx.rollback().await?;
        Ok(false)
    }

    /// The jobs whose cursor and revision are as their plans have found them.
    async fn unchanged(&self, shard: i32, claims: &[Claim]) -> Result<HashSet<i64>> {
        let claims: Vec<&Claim> = claims.iter().collect();
        let values = claim_statements::cursors(self.backend, shard, &claims);
        let text = claim_statements::UNCHANGED.of(self.backend);
        let ids = self.ids_of(&self.write, text, values).await?;
        Ok(ids.into_iter().collect())
    }

    /// Takes the fires off those that are left, or says that a job had fewer than its plan had found.
    async fn spend(&self, tx: &Transaction, claims: &[Claim]) -> Result<bool> {
        let mut counted: Vec<_> = claims.iter().filter(|claim| claim.counted && !claim.fires.is_empty()).collect();
        counted.sort_unstable_by_key(|claim| claim.due.job_id);
        for claim in counted {
            let fires = claim.fires.len() as i32;
            let text = "UPDATE job SET fires_left = fires_left - ? WHERE id = ? AND fires_left >= ?";
            let values = vec![fires.into(), claim.due.job_id.into(), fires.into()];
            if self.execute(tx, text, values).await?.rows_affected() != 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves all cursors, or says that at least one was not where its plan had found it.
    async fn advance(&self, tx: &Transaction, shard: i32, claims: &[Claim]) -> Result<bool> {
        let moving: Vec<_> = claims.iter().filter(|claim| claim.next_fire_at.is_some()).collect();
        if !moving.is_empty() {
            let values = claim_statements::cursors(self.backend, shard, &moving);
            let done = self.execute(tx, claim_statements::ADVANCE.of(self.backend), values).await?.rows_affected();
            if done != moving.len() as u64 && !failpoint::flag("redis_lock_only") {
                return Ok(false);
            }
        }
        for claim in claims.iter().filter(|claim| claim.next_fire_at.is_none()) {
            let text = "DELETE FROM job_clock WHERE shard = ? AND next_fire_at = ? AND job_id = ? AND revision = ?";
            let due = &claim.due;
            let key = vec![shard.into(), due.next_fire_at.into(), due.job_id.into(), due.revision.into()];
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
            let values = claim_statements::fires(self.backend, holder, claims);
            let done = self.execute(tx, claim_statements::RECORD.of(self.backend), values).await?.rows_affected();
            if done != fires as u64 {
                return Err(Error::Corrupt(format!("{done} of {fires} runs were recorded: a job row is missing")));
            }
        }
        let skipped = claims.iter().flat_map(|claim| {
            let ranges = claim.skipped.iter();
            ranges.map(|range| (claim.due.job_id, range))
        });
        self.record_skipped(tx, holder.epoch, &skipped.collect::<Vec<_>>()).await
    }

    /// Records what will not run, by job.
    pub(crate) async fn record_skipped(
        &self,
        tx: &Transaction,
        epoch: i64,
        skipped: &[(i64, &SkippedRange)],
    ) -> Result<()> {
        for page in skipped.chunks(MISFIRES) {
            let rows = vec!["(?, ?, ?, ?, ?, ?, ?)"; page.len()].join(", ");
            let text =
                format!("INSERT INTO misfire (job_id, from_at, to_at, count, policy, reason, epoch) VALUES {rows}");
            let values = page.iter().flat_map(|(job_id, range)| -> [Value; 7] {
                [
                    (*job_id).into(),
                    range.from_at.into(),
                    range.to_at.into(),
                    (range.count as i32).into(),
                    range.policy.into(),
                    range.reason.into(),
                    epoch.into(),
                ]
            });
            self.execute(tx, &text, values.collect()).await?;
        }
        Ok(())
    }
}
