//! Another shard count while nodes run. Rows that are in a wrong shard all the same are put right by `misplaced`.
//!
//! A transaction that writes a shard's number into a row either holds the job's row, which a change of the count locks (fires, retries,
//! backfills, edits, delayed triggers), or the setting itself (new jobs), or the shard's lease (claims). So nothing slips past the change.

use std::time::Duration;

use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
use sea_orm::DbBackend;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::change::PendingEntry;
use crate::audit::entry::AuditObject;
use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::lease::leases::{COLUMNS, Lease};
use crate::views::LeaseStore;

/// The most shards a database may have.
pub const MAX_SHARDS: i32 = 1024;

/// What a change of the count has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resharded {
    pub before: i32,
    pub after: i32,
    pub jobs: u64,
    /// Runs that have not ended.
    pub runs: u64,
}

/// The count as a new job reads it: it cannot change until the transaction ends. MariaDB has no `FOR SHARE`.
const fn count_shared(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "SELECT value FROM setting WHERE name = 'shards' FOR SHARE",
        DbBackend::MySql => "SELECT value FROM setting WHERE name = 'shards' LOCK IN SHARE MODE",
        _ => "SELECT value FROM setting WHERE name = 'shards'",
    }
}

/// A statement may go over all jobs, delayed triggers and open runs.
const LONG: Duration = Duration::from_secs(600);

impl LeaseStore<'_> {
    /// How many shards this database has.
    pub async fn shard_count(self) -> Result<i32> {
        match self.setting(&self.write, "shards").await? {
            Some(stored) => parse(&stored),
            None => Err(Error::Settings("this database has no shards yet; start a node on it first".into())),
        }
    }

    /// The same inside a transaction, and it stays so until that ends.
    pub(crate) async fn shard_count_in(self, tx: &Transaction) -> Result<Option<i32>> {
        let stored: Option<String> = self.tuple(tx, count_shared(self.backend), vec![]).await?;
        stored.map(|stored| parse(&stored)).transpose()
    }

    /// Divides the jobs into another number of shards, 1 to [`MAX_SHARDS`], while nodes run: each finds its epochs gone
    /// with its next statement and takes shards again.
    ///
    /// # Errors
    /// `Settings`: the number is out of range, or no node has ever been started here.
    pub async fn set_shards(self, count: i32, now: Millis, actor: &Actor) -> Result<Resharded> {
        if !(1..=MAX_SHARDS).contains(&count) {
            return Err(Error::Settings(format!(
                "{count} shards are out of range; write a number from 1 to {MAX_SHARDS}"
            )));
        }
        if self.shard_count().await? != count {
            self.delayed().move_far_ones(count, now).await?;
        }
        let audit = self.audit().pending_entry(actor, now).await?;
        let mut tries = 0;
        loop {
            match self.try_set_shards(count, audit).await {
                // Others had locks, or the answer was lost: a repetition finds it done.
                Err(error) if error.is_transient() && tries < 10 => tries += 1,
                other => return other,
            }
            let pause = 20 + rand::random_range(0..100 * tries);
            tokio::time::sleep(std::time::Duration::from_millis(pause)).await;
        }
    }

    async fn try_set_shards(self, count: i32, audit: PendingEntry<'_>) -> Result<Resharded> {
        let tx = self.write.begin_within(LONG).await?;
        let text = "SELECT value FROM setting WHERE name = 'shards'{for_update}";
        self.query(&tx, text, vec![]).await?;
        // Every claim begins with its lease: those under way end before this, later ones find another epoch.
        let leases = self.lock_leases(&tx).await?;
        let before = i32::try_from(leases.len()).unwrap_or(i32::MAX);
        if before == count {
            return Ok(Resharded { before, after: count, ..Resharded::default() });
        }
        let text = format!("UPDATE job SET shard = id % {count} WHERE shard <> id % {count}");
        let jobs = self.execute(&tx, &text, vec![]).await?;
        let text = format!("UPDATE job_clock SET shard = job_id % {count} WHERE shard <> job_id % {count}");
        self.execute(&tx, &text, vec![]).await?;
        for table in ["delayed_trigger", "loop_lease"] {
            let text = format!("UPDATE {table} SET shard = job_id % {count} WHERE shard <> job_id % {count}");
            self.execute(&tx, &text, vec![]).await?;
        }
        let runs = self.move_runs(&tx, &leases, count).await?;
        self.renew_leases(&tx, &leases, count).await?;
        let text = "UPDATE setting SET value = ? WHERE name = 'shards'";
        self.execute(&tx, text, values![count.to_string()]).await?;
        let done = Resharded { before, after: count, jobs, runs };
        let detail = json!({"before": {"shards": before}, "after": {"shards": count}});
        audit.commit(tx, AuditAction::Update, AuditObject::new(AuditObjectKind::Shards, 0), detail).await?;
        Ok(done)
    }

    pub(crate) async fn lock_leases(self, tx: &Transaction) -> Result<Vec<Lease>> {
        let text = format!("SELECT {COLUMNS} FROM shard_lease ORDER BY shard{{for_update}}");
        self.all(tx, &text, vec![]).await
    }

    /// Runs that have not ended go with their jobs. Locked by id first where that is cheap, as all transactions do it.
    async fn move_runs(self, tx: &Transaction, leases: &[Lease], count: i32) -> Result<u64> {
        let other = format!("shard <> job_id % {count}");
        if self.backend == DbBackend::Postgres {
            let text = format!("SELECT id FROM run WHERE state < {{state.final}} AND {other} ORDER BY id FOR UPDATE");
            self.query(tx, &text, vec![]).await?;
        }
        if self.backend != DbBackend::MySql {
            let text = format!("UPDATE run SET shard = job_id % {count} WHERE state < {{state.final}} AND {other}");
            return self.execute(tx, &text, vec![]).await;
        }
        let mut moved = 0;
        for lease in leases {
            // Its index of open runs begins with the shard. What an earlier turn has moved here is right already.
            let text = format!(
                "UPDATE run FORCE INDEX (run_open) SET shard = job_id % {count} WHERE shard = ? AND state < {{state.final}} AND {other}"
            );
            let values = values![lease.shard];
            moved += self.execute(tx, &text, values).await?;
        }
        Ok(moved)
    }

    /// As many leases as shards, all free, all above every epoch there has been.
    async fn renew_leases(self, tx: &Transaction, leases: &[Lease], count: i32) -> Result<()> {
        let epoch = 1 + leases.iter().map(|lease| lease.epoch).max().unwrap_or(0);
        let text = "DELETE FROM shard_lease WHERE shard >= ?";
        self.execute(tx, text, values![count]).await?;
        let text = "UPDATE shard_lease SET epoch = ?, expires_at = 0";
        self.execute(tx, text, values![epoch]).await?;
        let before = i32::try_from(leases.len()).unwrap_or(i32::MAX);
        let new = (before..count).map(|shard| values![shard, epoch, "", 0i64]);
        self.insert_rows(tx, "shard_lease", COLUMNS, new.collect()).await
    }
}

fn parse(stored: &str) -> Result<i32> {
    stored.parse().map_err(|_| Error::Corrupt(format!("setting shards = {stored:?}")))
}
