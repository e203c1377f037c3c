//! Stops: by a change of the job, or because its executor is not to have it any more. The lease goes on until its end, unless the executor
//! confirms that it has stopped: it may fire until then.

use carillon_scheduler::{Millis, shard_of};
use sea_orm::Value;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::{ListColumn, long};
use crate::error::Result;
use crate::job::stored_job::Job;
use crate::lease::loops::lease::{COLUMNS, LoopLease, is_wanted};
use crate::views::LoopStore;

/// In the order of the columns: no executor has it.
fn free_row(job_id: i64, shard: i32) -> Vec<Value> {
    values![job_id, shard, true, 0i64, 0i64, "", "", true, 0i64, 0i64, 0i64, "", ""]
}

const GRANTS: &[ListColumn] = &[long("id"), long("epoch")];

static STOP: Bulk = Bulk::update(
    GRANTS,
    Update {
        table: "loop_lease",
        index: "PRIMARY",
        on: "loop_lease.job_id = u.id",
        set: &[("epoch", "loop_lease.epoch + 1"), ("is_stopped", "TRUE")],
        only_if: "loop_lease.epoch = u.epoch AND loop_lease.is_stopped = FALSE",
    },
);

/// An executor fires nothing before its first renewal, which is its first report: a grant without one has not begun.
static GIVE_UP: Bulk = Bulk::update(
    GRANTS,
    Update {
        table: "loop_lease",
        index: "PRIMARY",
        on: "loop_lease.job_id = u.id",
        set: &[("epoch", "loop_lease.epoch + 1"), ("is_stopped", "TRUE"), ("expires_at", "0")],
        only_if: "loop_lease.epoch = u.epoch AND loop_lease.is_stopped = FALSE AND loop_lease.reported_at = 0",
    },
);

impl LoopStore<'_> {
    /// Ends the grant of a job that is changed, and notes whether an executor is to have its loop from now on.
    pub(crate) async fn change(self, tx: &Transaction, job: &Job) -> Result<()> {
        let is_wanted = is_wanted(job);
        let text =
            "UPDATE loop_lease SET epoch = epoch + 1, is_stopped = TRUE, is_wanted = ?, shard = ? WHERE job_id = ?";
        let changed = self.execute(tx, text, values![is_wanted, job.shard, job.id]).await?;
        if changed == 0 && is_wanted {
            self.insert_rows(tx, "loop_lease", COLUMNS, vec![free_row(job.id, job.shard)]).await?;
        }
        Ok(())
    }

    /// The rows of new jobs whose loops executors are to have.
    pub(crate) async fn insert_wanted(self, tx: &Transaction, jobs: &[Job], shards: i32) -> Result<()> {
        let wanted = jobs.iter().filter(|job| is_wanted(job));
        let rows: Vec<_> = wanted.map(|job| free_row(job.id, shard_of(job.id, shards))).collect();
        self.insert_rows(tx, "loop_lease", COLUMNS, rows).await
    }

    /// Forgets the loop of a job that is deleted. A renewal finds no row, so an executor that has it stops.
    pub(crate) async fn forget(self, tx: &Transaction, job_id: i64) -> Result<()> {
        self.execute(tx, "DELETE FROM loop_lease WHERE job_id = ?", values![job_id]).await.map(drop)
    }

    /// Ends grants, each of a job and an epoch, that are to go to other executors, and answers their leases: where each was, and until when it
    /// may go on there.
    pub async fn stop(self, grants: &[(i64, i64)]) -> Result<Vec<LoopLease>> {
        self.bulk(&self.changes, &STOP, &[], grants).await?;
        let job_ids: Vec<i64> = grants.iter().map(|(job_id, _)| *job_id).collect();
        self.of_jobs(&job_ids).await
    }

    /// Ends grants, each of a job and an epoch, that their executors have not taken or not answered: others may get them at once. One that was
    /// reported goes on.
    pub async fn give_up(self, grants: &[(i64, i64)]) -> Result<()> {
        self.bulk(&self.changes, &GIVE_UP, &[], grants).await.map(drop)
    }

    /// The executor has stopped a loop and fires it no more: others may get it at once. `epoch` is that of the stop.
    pub async fn confirm_stop(self, job_id: i64, epoch: i64, report: &str, now: Millis) -> Result<()> {
        let text = "UPDATE loop_lease SET expires_at = 0, report = ?, reported_at = ? WHERE job_id = ? AND epoch = ? AND is_stopped = TRUE";
        self.execute(&self.write, text, values![report, now, job_id, epoch]).await.map(drop)
    }

    /// After an older state of the database was restored: epochs above all that may have been granted since. Executors that go on by
    /// grants which are lost do so until their next renewal.
    pub(crate) async fn forget_grants(self, tx: &Transaction, step: i64) -> Result<()> {
        let text = "UPDATE loop_lease SET epoch = epoch + ?, is_stopped = TRUE";
        self.execute(tx, text, values![step]).await.map(drop)
    }
}
