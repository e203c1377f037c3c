//! Grants: an executor gets a loop whose lease is over.

use carillon_scheduler::Millis;

use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::{ListColumn, long, text};
use crate::error::Result;
use crate::lease::loops::lease::LoopLease;
use crate::views::LoopStore;

/// An executor that is to get a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// As it was read: another one has changed it if it is not so any more.
    pub lease: LoopLease,
    pub app_id: i64,
    pub address: String,
    pub boot_id: String,
    /// The sums of the grants so far, the one that `lease` reports among them, as JSON.
    pub counters: String,
}

const LIST: &[ListColumn] = &[
    long("id"),
    long("epoch"),
    long("expires_at"),
    long("app_id"),
    text("address", "VARCHAR(255)"),
    text("boot_id", "VARCHAR(64)"),
    text("counters", "MEDIUMTEXT"),
];

/// A report that came since the lease was read has made it longer: then nothing is granted, and no report is left out of the sums.
pub(crate) static GRANT: Bulk = Bulk::update(
    LIST,
    Update {
        table: "loop_lease",
        index: "PRIMARY",
        on: "loop_lease.job_id = u.id",
        set: &[
            ("epoch", "u.epoch + 1"),
            ("app_id", "u.app_id"),
            ("address", "u.address"),
            ("boot_id", "u.boot_id"),
            ("is_stopped", "FALSE"),
            ("counters", "u.counters"),
            ("report", "''"),
            ("reported_at", "0"),
            ("granted_at", ":now"),
            ("expires_at", "{clock} + :ttl"),
        ],
        only_if: "loop_lease.epoch = u.epoch AND loop_lease.expires_at = u.expires_at AND loop_lease.expires_at < {clock} AND loop_lease.is_wanted",
    },
);

pub(crate) static GRANTED: Bulk = Bulk::text(
    &[long("id"), long("epoch"), text("boot_id", "VARCHAR(64)")],
    "SELECT u.id FROM {list} {join} loop_lease ON loop_lease.job_id = u.id WHERE loop_lease.epoch = u.epoch + 1 AND loop_lease.boot_id = u.boot_id AND loop_lease.is_stopped = FALSE",
);

impl LoopStore<'_> {
    /// Gives loops to executors for `ttl_ms`, each under the epoch after that of its lease, and answers which ones: of the others the lease is
    /// not over, or was given to another one.
    pub async fn grant(self, grants: &[Grant], now: Millis, ttl_ms: i64) -> Result<Vec<i64>> {
        if grants.is_empty() {
            return Ok(vec![]);
        }
        let row = |grant: &Grant| {
            let Grant { lease, app_id, address, boot_id, counters } = grant.clone();
            (lease.job_id, lease.epoch, lease.expires_at, app_id, address, boot_id, counters)
        };
        let rows: Vec<_> = grants.iter().map(row).collect();
        let values = named![now, ttl: ttl_ms];
        if self.bulk(&self.write, &GRANT, &values, &rows).await? == 0 {
            return Ok(vec![]);
        }
        let rows: Vec<_> = grants.iter().map(|it| (it.lease.job_id, it.lease.epoch, it.boot_id.clone())).collect();
        self.bulk_tuples(&self.write, &GRANTED, &[], &rows).await
    }
}
