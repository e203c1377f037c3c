//! Loops that are in trouble: each has one open alarm until it is well again, over all nodes.

use carillon_scheduler::{AlarmKind, Millis};
use sea_orm::FromQueryResult;

use crate::alarm::alarms::Alarm;
use crate::db::ids;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::execute::read;
use crate::db::sql::list::SHARDS;
use crate::error::Result;
use crate::views::LoopStore;

/// A loop that an executor is to have, or whose alarm is open.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct WatchedLoop {
    pub job_id: i64,
    pub is_wanted: bool,
    pub is_stopped: bool,
    pub expires_at: Millis,
    /// When the last report of this grant came; 0: there is none.
    pub reported_at: Millis,
    /// When its alarm was raised that is still open; 0: there is none.
    pub alarmed_at: Millis,
    /// The last report of this grant, as JSON; empty: there is none.
    pub report: String,
}

pub(crate) static WATCHED: Bulk = Bulk::text(
    SHARDS,
    "SELECT job_id, is_wanted, is_stopped, expires_at, reported_at, alarmed_at, report FROM {list} {join} loop_lease{index loop_lease_shard} \
     ON loop_lease.shard = u.shard WHERE loop_lease.is_wanted OR loop_lease.alarmed_at > 0 ORDER BY job_id",
);

impl LoopStore<'_> {
    /// The loops of these shards that are wanted, or whose alarms are open.
    pub async fn watched(self, shards: &[i64]) -> Result<Vec<WatchedLoop>> {
        let rows = self.bulk_query(&self.engine_reads, &WATCHED, &[], shards).await?;
        rows.iter().map(read).collect()
    }

    /// Raises the alarm of a loop. None: it is open already, or no executor is to have the loop any more.
    pub async fn raise_alarm(self, job_id: i64, text: String, now: Millis) -> Result<Option<Alarm>> {
        let id = self.take_id(&ids::ROW).await?;
        let tx = self.begin().await?;
        let note = "UPDATE loop_lease SET alarmed_at = ? WHERE job_id = ? AND alarmed_at = 0 AND is_wanted = TRUE";
        if self.execute(&tx, note, values![now, job_id]).await? == 0 {
            return Ok(None);
        }
        let alarm = Alarm { kind: AlarmKind::Loop, job_id: Some(job_id), run_id: None, text };
        let raised = self.alarms().raise(&tx, id, alarm, now).await?;
        tx.commit().await?;
        Ok(Some(raised))
    }

    /// These loops are well again: their alarms are closed with the next look at open alarms.
    pub async fn end_alarms(self, job_ids: &[i64]) -> Result<()> {
        if job_ids.is_empty() {
            return Ok(());
        }
        let text = "UPDATE loop_lease SET alarmed_at = 0 WHERE job_id IN ({ids}) AND alarmed_at > 0";
        self.execute(&self.write, text, values![self.ids(job_ids)]).await.map(drop)
    }
}
