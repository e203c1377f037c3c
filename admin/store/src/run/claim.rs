//! The first committed write: a job's cursor moves and its runs are recorded, in one transaction.
//!
//! Only what the compare-and-set on `job_clock` has won is inserted, and the insert is plain: a key that is there already
//! is an error, never skipped in silence, or an instant could be lost while the cursor moves on.

use foldhash::{HashMap, HashSet, HashSetExt as _};

use carillon_scheduler::Millis;
use sea_orm::Value;

use crate::db::failpoint;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::{ListColumn, int, long};
use crate::error::{Error, Result};
use crate::views::RunStore;

/// A row of `job_clock` that is inside the look-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueJob {
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
pub struct JobClaim {
    pub due: DueJob,
    /// Run id and instant of each fire, ascending.
    pub fires: Vec<(i64, Millis)>,
    pub skipped: Vec<SkippedRange>,
    /// None: the job never fires again.
    pub next_fire_at: Option<Millis>,
    /// Its fires are counted: those that are left become fewer.
    pub counted: bool,
}

/// The lease under which something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLease<'a> {
    pub shard: i32,
    pub epoch: i64,
    pub node: &'a str,
    pub ttl_ms: i64,
}

/// The lower bound keeps PostgreSQL from walking over the places that cursors have left, which it cannot forget while an old
/// snapshot is open.
pub(crate) const DUE: &str = "SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND next_fire_at >= {?} AND next_fire_at <= {?} \
     ORDER BY shard, next_fire_at, job_id LIMIT ?";

/// Cursors as their plans have found them. SQLite would walk the whole shard if it did not come from the list.
const CURSORS: &[ListColumn] = &[long("job_id"), long("old"), long("next"), long("revision"), int("shard")];

/// Compare-and-set.
pub(crate) static MOVE_CURSORS: Bulk = Bulk::update(
    CURSORS,
    Update {
        table: "job_clock",
        index: "PRIMARY",
        on: "job_clock.shard = u.shard AND job_clock.next_fire_at = u.old AND job_clock.job_id = u.job_id",
        set: &[("next_fire_at", "u.next")],
        only_if: "job_clock.revision = u.revision",
    },
);

/// Which cursors are where their plans have found them.
pub(crate) static UNCHANGED: Bulk = Bulk::text(
    CURSORS,
    "SELECT c.job_id FROM {list} {join} job_clock AS c{index PRIMARY} ON c.shard = u.shard AND c.next_fire_at = u.old \
     AND c.job_id = u.job_id AND c.revision = u.revision",
);

/// The runs; what the job's row already holds comes from the job's row, so that only ids and instants travel.
pub(crate) static INSERT_CLAIMED: Bulk = Bulk::text(
    &[long("id"), long("job_id"), long("at")],
    "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, \
     follow) SELECT u.id, j.id, j.app_id, j.shard, {cause.schedule}, u.at, 0, 1, 1, u.at, u.at, {state.claimed}, :epoch, :node, 0, \
     j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' THEN {follow.chain} ELSE 0 END FROM {list} {join} job AS j{index PRIMARY} ON j.id = u.job_id",
);

/// Looks at what has changed, before a claim is left to the next scan.
const CHANGES: usize = 3;

impl RunStore<'_> {
    /// Jobs of a shard whose cursor is at or before `until`, earliest first.
    pub async fn due_jobs(self, shard: i32, until: Millis, limit: usize) -> Result<Vec<DueJob>> {
        self.due_jobs_from(shard, Millis::MIN, until, limit).await
    }

    /// The same, of those whose cursor is at or after `from`.
    pub async fn due_jobs_from(self, shard: i32, from: Millis, until: Millis, limit: usize) -> Result<Vec<DueJob>> {
        let values = values![shard, from, until, limit as i64];
        self.cursors(DUE, values).await
    }

    /// The cursors of these jobs that are at or before `until`.
    pub async fn cursors_of(self, shard: i32, until: Millis, job_ids: &[i64]) -> Result<HashMap<i64, Millis>> {
        let text =
            "SELECT job_id, next_fire_at FROM job_clock WHERE shard = ? AND next_fire_at <= ? AND job_id IN ({ids})";
        let values = values![shard, until, self.ids(job_ids)];
        Ok(self.tuples(&self.engine_reads, text, values).await?.into_iter().collect())
    }

    /// Rows of `job_clock`, earliest first.
    pub(crate) async fn cursors(self, text: &str, values: Vec<Value>) -> Result<Vec<DueJob>> {
        let rows = self.integers(&self.engine_reads, text, values).await?.into_iter();
        let mut found: Vec<DueJob> =
            rows.map(|[job_id, next_fire_at, revision]| DueJob { job_id, next_fire_at, revision }).collect();
        found.sort_unstable_by_key(|due| (due.next_fire_at, due.job_id));
        Ok(found)
    }

    /// Records a batch under its shard's epoch. Answers the jobs of which it has recorded nothing: another change has moved the
    /// job's cursor or revision, or the job's row has fewer `fires_left` than the claim has fires. The next scan plans them again.
    /// `Error::Fenced`: the shard has another holder, nothing is written.
    pub async fn claim(self, holder: &HeldLease<'_>, claims: &[JobClaim], now: Millis) -> Result<HashSet<i64>> {
        if self.try_claim(holder, claims, now).await? {
            return Ok(HashSet::new());
        }
        // Some have changed. The others are claimed without them; the compare-and-set sees what changes in between.
        for _ in 0..CHANGES {
            let mut kept = self.unchanged(holder.shard, claims).await?;
            for job_id in self.short_of_fires(claims).await? {
                kept.remove(&job_id);
            }
            let is_kept = |claim: &&JobClaim| kept.contains(&claim.due.job_id);
            let unchanged: Vec<JobClaim> = claims.iter().filter(is_kept).cloned().collect();
            if self.try_claim(holder, &unchanged, now).await? {
                let job_ids = claims.iter().map(|claim| claim.due.job_id);
                return Ok(job_ids.filter(|id| !kept.contains(id)).collect());
            }
        }
        // Another claimer is faster each time. Nothing is recorded, so all are found again.
        Ok(claims.iter().map(|claim| claim.due.job_id).collect())
    }

    /// All of it or nothing: false if a cursor, a revision or what is left of a job's fires is not what its plan had found.
    async fn try_claim(self, holder: &HeldLease<'_>, claims: &[JobClaim], now: Millis) -> Result<bool> {
        let tx = self.begin().await?;
        self.leases().fence(&tx, holder.shard, holder.epoch, now, holder.ttl_ms).await?;
        // Jobs are locked before their cursors, as an edit does it.
        if self.decrement_fires_left(&tx, claims).await? && self.move_cursors(&tx, holder.shard, claims).await? {
            self.record(&tx, holder, claims).await?;
            tx.commit().await?;
            failpoint::hit("after_claim_commit");
            return Ok(true);
        }
        tx.rollback().await?;
        Ok(false)
    }

    /// The jobs whose cursor and revision are as their plans have found them.
    async fn unchanged(self, shard: i32, claims: &[JobClaim]) -> Result<HashSet<i64>> {
        let cursors = cursors(shard, claims.iter());
        Ok(self.bulk_tuples(&self.write, &UNCHANGED, &[], &cursors).await?.into_iter().collect())
    }

    /// The jobs whose rows have fewer fires left than their plans have found, or no number of them.
    async fn short_of_fires(self, claims: &[JobClaim]) -> Result<Vec<i64>> {
        let counted = || claims.iter().filter(|claim| claim.counted && !claim.fires.is_empty());
        let job_ids: Vec<i64> = counted().map(|claim| claim.due.job_id).collect();
        if job_ids.is_empty() {
            return Ok(vec![]);
        }
        let text = "SELECT id, fires_left FROM job WHERE fires_left IS NOT NULL AND id IN ({ids})";
        let left = self.tuples::<(i64, i32)>(&self.write, text, values![self.ids(&job_ids)]).await?;
        let left: HashMap<i64, i32> = left.into_iter().collect();
        let is_short =
            |claim: &&JobClaim| left.get(&claim.due.job_id).is_none_or(|left| *left < claim.fires.len() as i32);
        Ok(counted().filter(is_short).map(|claim| claim.due.job_id).collect())
    }

    /// Takes the fires off those that are left, or says that a job had fewer than its plan had found.
    async fn decrement_fires_left(self, tx: &Transaction, claims: &[JobClaim]) -> Result<bool> {
        let mut counted: Vec<_> = claims.iter().filter(|claim| claim.counted && !claim.fires.is_empty()).collect();
        counted.sort_unstable_by_key(|claim| claim.due.job_id);
        for claim in counted {
            let fires = claim.fires.len() as i32;
            let text = "UPDATE job SET fires_left = fires_left - ? WHERE id = ? AND fires_left >= ?";
            let values = values![fires, claim.due.job_id, fires];
            if self.execute(tx, text, values).await? != 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves all cursors, or says that at least one was not where its plan had found it.
    async fn move_cursors(self, tx: &Transaction, shard: i32, claims: &[JobClaim]) -> Result<bool> {
        let moving = cursors(shard, claims.iter().filter(|claim| claim.next_fire_at.is_some()));
        if !moving.is_empty() {
            let done = self.bulk(tx, &MOVE_CURSORS, &[], &moving).await?;
            if done != moving.len() as u64 {
                return Ok(false);
            }
        }
        for claim in claims.iter().filter(|claim| claim.next_fire_at.is_none()) {
            let text = "DELETE FROM job_clock WHERE shard = ? AND next_fire_at = ? AND job_id = ? AND revision = ?";
            let due = &claim.due;
            let key = values![shard, due.next_fire_at, due.job_id, due.revision];
            if self.execute(tx, text, key).await? != 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn record(self, tx: &Transaction, holder: &HeldLease<'_>, claims: &[JobClaim]) -> Result<()> {
        let fires = claims.iter().flat_map(|claim| claim.fires.iter().map(|(id, at)| (*id, claim.due.job_id, *at)));
        let mut fires: Vec<(i64, i64, Millis)> = fires.collect();
        if !fires.is_empty() {
            fires.sort_unstable();
            let done = self.bulk(tx, &INSERT_CLAIMED, &named![epoch: holder.epoch, node: holder.node], &fires).await?;
            if done != fires.len() as u64 {
                let count = fires.len();
                return Err(Error::Corrupt(format!("{done} of {count} runs were recorded: a job row is missing")));
            }
        }
        let skipped = claims.iter().flat_map(|claim| claim.skipped.iter().map(|range| (claim.due.job_id, range)));
        self.record_skipped(tx, holder.epoch, &skipped.collect::<Vec<_>>()).await
    }

    /// Records what will not run, by job.
    pub(crate) async fn record_skipped(
        self,
        tx: &Transaction,
        epoch: i64,
        skipped: &[(i64, &SkippedRange)],
    ) -> Result<()> {
        let row = |(job_id, it): &(i64, &SkippedRange)| {
            // What an edit skips is no event: it was asked for.
            let unrouted_at = (epoch > 0).then_some(it.to_at);
            values![*job_id, it.from_at, it.to_at, it.count as i32, it.policy, it.reason, epoch, unrouted_at]
        };
        let columns = "job_id, from_at, to_at, count, policy, reason, epoch, unrouted_at";
        self.insert_rows(tx, "misfire", columns, skipped.iter().map(row).collect()).await
    }
}

/// Sorted, as rows are locked in one order everywhere.
fn cursors<'a>(shard: i32, claims: impl Iterator<Item = &'a JobClaim>) -> Vec<(i64, Millis, Millis, i64, i32)> {
    let cursor = |JobClaim { due, next_fire_at, .. }: &JobClaim| {
        (due.job_id, due.next_fire_at, next_fire_at.unwrap_or(i64::MAX), due.revision, shard)
    };
    let mut rows: Vec<_> = claims.map(cursor).collect();
    rows.sort_unstable();
    rows
}
