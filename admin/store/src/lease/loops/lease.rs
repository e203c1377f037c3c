//! The leases as they are read.

use carillon_scheduler::Millis;
use sea_orm::FromQueryResult;

use crate::db::sql::bulk::Bulk;
use crate::db::sql::execute::read;
use crate::db::sql::list::SHARDS;
use crate::error::Result;
use crate::job::stored_job::Job;
use crate::views::LoopStore;

/// The lease of a job's loop.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct LoopLease {
    pub job_id: i64,
    pub shard: i32,
    /// The job is enabled, so that an executor is to have the loop.
    pub is_wanted: bool,
    /// Grows with each grant and with each stop.
    pub epoch: i64,
    /// The app of the executor that got it last; 0: none ever did.
    pub app_id: i64,
    pub address: String,
    /// Of the start of the executor that got it last.
    pub boot_id: String,
    /// That grant was ended, by a change or by its executor; also before the first one.
    pub is_stopped: bool,
    /// No executor gets the loop before, by the database's clock; 0: nothing has to be waited for.
    pub expires_at: Millis,
    pub granted_at: Millis,
    /// When the report came; 0: there is none of this grant.
    pub reported_at: Millis,
    /// The sums of the grants before this one, as JSON; empty: there were none.
    pub counters: String,
    /// The last report of this grant, as JSON; empty: there is none.
    pub report: String,
}

/// Whether an executor is to have a loop of the job.
pub(super) fn is_wanted(job: &Job) -> bool {
    job.draft.is_best_effort() && job.draft.enabled
}

impl LoopLease {
    /// Whether an executor has the loop, or had it until its lease was over and nothing has come since.
    pub fn is_granted(&self) -> bool {
        !self.is_stopped
    }
}

/// The end of a lease.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct LoopEnd {
    pub job_id: i64,
    /// The app of the executor that got it last.
    pub app_id: i64,
    /// Of the last grant or stop.
    pub epoch: i64,
    pub expires_at: Millis,
    pub is_wanted: bool,
    pub boot_id: String,
    /// No executor has it, but the last one may go on until the end.
    pub is_stopped: bool,
}

pub(super) const COLUMNS: &str = "job_id, shard, is_wanted, epoch, app_id, address, boot_id, is_stopped, expires_at, granted_at, reported_at, counters, report";

/// The wanted loops of a list of shards whose leases are over.
pub(crate) static FREE: Bulk = Bulk::text(
    SHARDS,
    "SELECT job_id FROM {list} {join} loop_lease{index loop_lease_shard} ON loop_lease.shard = u.shard \
     WHERE loop_lease.expires_at < {clock} AND loop_lease.is_wanted ORDER BY job_id",
);

/// The loops of a list of shards that are wanted, or may still go on.
pub(crate) static ENDS: Bulk = Bulk::text(
    SHARDS,
    "SELECT job_id, app_id, epoch, expires_at, is_wanted, boot_id, is_stopped FROM {list} {join} loop_lease{index loop_lease_shard} ON loop_lease.shard = u.shard \
     WHERE loop_lease.is_wanted OR loop_lease.expires_at > 0 ORDER BY job_id",
);

impl LoopStore<'_> {
    /// The lease of a job; None: it was never a loop.
    pub async fn get(self, job_id: i64) -> Result<Option<LoopLease>> {
        let text = format!("SELECT {COLUMNS} FROM loop_lease WHERE job_id = ?");
        self.one(&self.read, &text, values![job_id]).await
    }

    /// The leases of these jobs that have one, by job.
    pub async fn of_jobs(self, job_ids: &[i64]) -> Result<Vec<LoopLease>> {
        let text = format!("SELECT {COLUMNS} FROM loop_lease WHERE job_id IN ({{ids}}) ORDER BY job_id");
        self.all(&self.engine_reads, &text, values![self.ids(job_ids)]).await
    }

    /// The wanted loops of these shards whose leases are over, by the database's clock.
    pub async fn free(self, shards: &[i64], now: Millis) -> Result<Vec<i64>> {
        self.bulk_tuples(&self.engine_reads, &FREE, &[("now", now.into())], shards).await
    }

    /// The loops of these shards that are wanted, or may still go on, each with the end of its lease.
    pub async fn ends(self, shards: &[i64]) -> Result<Vec<LoopEnd>> {
        let rows = self.bulk_query(&self.engine_reads, &ENDS, &[], shards).await?;
        rows.iter().map(read).collect()
    }

    /// The loops that executors at this address of the app have, by job.
    pub async fn at_address(self, app_id: i64, address: &str) -> Result<Vec<i64>> {
        let text =
            "SELECT job_id FROM loop_lease WHERE app_id = ? AND address = ? AND is_stopped = FALSE ORDER BY job_id";
        self.tuples(&self.engine_reads, text, values![app_id, address]).await
    }

    /// The loops that executors of the app have, by job.
    pub async fn of_app(self, app_id: i64) -> Result<Vec<i64>> {
        let text = "SELECT job_id FROM loop_lease WHERE app_id = ? AND is_stopped = FALSE ORDER BY job_id";
        self.tuples(&self.engine_reads, text, values![app_id]).await
    }
}
