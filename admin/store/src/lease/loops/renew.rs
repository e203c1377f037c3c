//! Renewals, by the executors that have the loops, and the return of loops.

use carillon_scheduler::Millis;

use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::{ListColumn, long, text};
use crate::error::Result;
use crate::views::LoopStore;

/// The executor that has loops.
#[derive(Clone, Copy, Debug)]
pub struct LoopHolder<'a> {
    pub app_id: i64,
    pub boot_id: &'a str,
}

/// What it reports of one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub job_id: i64,
    pub epoch: i64,
    /// As JSON.
    pub text: String,
}

const LIST: &[ListColumn] = &[long("id"), long("epoch"), text("report", "MEDIUMTEXT")];

/// One statement for all loops of an executor.
pub(crate) static RENEW: Bulk = Bulk::update(
    LIST,
    Update {
        table: "loop_lease",
        index: "PRIMARY",
        on: "loop_lease.job_id = u.id",
        set: &[("report", "u.report"), ("reported_at", ":now"), ("expires_at", "{clock} + :ttl")],
        only_if: "loop_lease.epoch = u.epoch AND loop_lease.boot_id = :boot AND loop_lease.app_id = :app AND loop_lease.is_stopped = FALSE AND loop_lease.expires_at > {clock}",
    },
);

/// A lease that is over here was not renewed either: nothing but the end of a grant lies between the two statements.
pub(crate) static RENEWED: Bulk = Bulk::text(
    &[long("id"), long("epoch")],
    "SELECT u.id FROM {list} {join} loop_lease ON loop_lease.job_id = u.id \
     WHERE loop_lease.epoch = u.epoch AND loop_lease.boot_id = :boot AND loop_lease.app_id = :app AND loop_lease.is_stopped = FALSE AND loop_lease.expires_at > {clock}",
);

/// Also of a lease that is over: its last report counts as long as no other executor has the loop.
pub(crate) static RELEASE: Bulk = Bulk::update(
    LIST,
    Update {
        table: "loop_lease",
        index: "PRIMARY",
        on: "loop_lease.job_id = u.id",
        set: &[("report", "u.report"), ("reported_at", ":now"), ("expires_at", "0"), ("is_stopped", "TRUE")],
        only_if: "loop_lease.epoch = u.epoch AND loop_lease.boot_id = :boot AND loop_lease.app_id = :app",
    },
);

impl LoopStore<'_> {
    /// Extends leases to `ttl_ms` from now, by the database's clock, and keeps the reports. Answers the jobs whose leases the executor has;
    /// the others are over, stopped, or another executor's.
    pub async fn renew(self, holder: LoopHolder<'_>, reports: &[Report], now: Millis, ttl_ms: i64) -> Result<Vec<i64>> {
        if reports.is_empty() || holder.boot_id.is_empty() {
            return Ok(vec![]);
        }
        let values = named![now, ttl: ttl_ms, boot: holder.boot_id, app: holder.app_id];
        if self.bulk(&self.write, &RENEW, &values, &rows(reports)).await? == 0 {
            return Ok(vec![]);
        }
        let pairs: Vec<(i64, i64)> = reports.iter().map(|report| (report.job_id, report.epoch)).collect();
        let values = named![now, boot: holder.boot_id, app: holder.app_id];
        self.bulk_tuples(&self.write, &RENEWED, &values, &pairs).await
    }

    /// The clock went back to `now`: a lease lasts for `ttl_ms` from then at most, not for the step besides.
    pub async fn end_at_the_latest(self, now: Millis, ttl_ms: i64) -> Result<()> {
        let text = "UPDATE loop_lease SET expires_at = ? WHERE expires_at > ?";
        self.execute(&self.write, text, values![now + ttl_ms, now + ttl_ms]).await.map(drop)
    }

    /// Takes loops back from an executor that has stopped them: others may get them at once.
    pub async fn release(self, holder: LoopHolder<'_>, reports: &[Report], now: Millis) -> Result<()> {
        if reports.is_empty() || holder.boot_id.is_empty() {
            return Ok(());
        }
        let values = named![now, boot: holder.boot_id, app: holder.app_id];
        self.bulk(&self.write, &RELEASE, &values, &rows(reports)).await.map(drop)
    }
}

fn rows(reports: &[Report]) -> Vec<(i64, i64, &str)> {
    reports.iter().map(|report| (report.job_id, report.epoch, report.text.as_str())).collect()
}
