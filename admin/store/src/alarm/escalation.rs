//! Alarms that wait for an operator: closed when their condition is over, escalated when it lasts.

use carillon_scheduler::Millis;

use crate::alarm::alarms::{AlarmFilter, AlarmRow};
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::long;
use crate::error::Result;
use crate::views::AlarmStore;

/// What ends each kind. The outcome of a run that is `unknown` or `lost` closes its alarm at once (`settle`); here it is
/// for runs that are deleted. For `stuck` and `paused` this is the normal way out. `stuck` names a run and speaks for its job: as
/// long as one flagged run of the job waits, no alarm is raised for a further one, so it stays open. Without a run it is about a shard
/// (`stalled_shards`). `late_start` is closed by a run of its job that starts in time (`late_starts`); here it is for jobs that have lost
/// their objective, and for paused ones of which no run waits; and `close_last_late_starts` is for those that nothing starts any more.
const OVER: [&str; 5] = [
    "kind IN ({alarm.unknown}, {alarm.lost}) AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = alarm.run_id AND run.state IN ({state.unknown}, {state.lost}))",
    "kind = {alarm.stuck} AND run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = alarm.run_id AND run.state = {state.claimed}) \
     AND NOT EXISTS (SELECT 1 FROM job JOIN run ON run.shard = job.shard AND run.job_id = job.id WHERE job.id = alarm.job_id \
     AND run.state = {state.claimed} AND run.state < {state.final} AND run.flagged_at IS NOT NULL)",
    "kind = {alarm.paused} AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = alarm.job_id AND job.paused_reason IS NOT NULL)",
    "kind = {alarm.late_start} AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = alarm.job_id AND job.start_within_seconds > 0 \
     AND (job.enabled = TRUE OR EXISTS (SELECT 1 FROM run WHERE run.shard = job.shard AND run.job_id = job.id \
     AND run.state = {state.claimed} AND run.state < {state.final})))",
    "kind = {alarm.loop} AND NOT EXISTS (SELECT 1 FROM loop_lease WHERE loop_lease.job_id = alarm.job_id AND loop_lease.alarmed_at > 0)",
];

pub(crate) static CLOSE_ALARMS: Bulk = Bulk::update(
    &[long("run_id")],
    Update {
        table: "alarm",
        index: "alarm_run",
        on: "alarm.run_id = u.run_id",
        set: &[("open_at", "NULL"), ("closed_at", ":now")],
        only_if: "{+alarm.open_at} > 0",
    },
);

pub(crate) static ESCALATE: Bulk = Bulk::update(
    &[long("id")],
    Update {
        table: "alarm",
        index: "PRIMARY",
        on: "alarm.id = u.id",
        set: &[("level", "1"), ("escalated_at", ":now")],
        only_if: "",
    },
);

/// Escalated at once; the others are in the next round.
const MOST: u32 = 500;

impl AlarmStore<'_> {
    /// Closes alarms whose condition is over; answers how many.
    pub async fn close_resolved(self, now: Millis) -> Result<u64> {
        let mut closed = 0;
        for over in OVER {
            let text = format!("UPDATE alarm SET open_at = NULL, closed_at = ? WHERE open_at > 0 AND {over}");
            let done = self.execute(&self.write, &text, values![now]).await?;
            closed += done;
        }
        Ok(closed + self.close_last_late_starts(now).await?)
    }

    /// The outcome of these runs is known after all.
    pub(crate) async fn close_alarms_of(self, tx: &Transaction, run_ids: &[i64], now: Millis) -> Result<()> {
        if !run_ids.is_empty() {
            self.bulk(tx, &CLOSE_ALARMS, &named![now], run_ids).await?;
        }
        Ok(())
    }

    /// Raises the level of alarms that have been open since `since` or longer, and answers those.
    pub async fn escalate(self, since: Millis, now: Millis) -> Result<Vec<AlarmRow>> {
        let tx = self.begin().await?;
        let text = format!(
            "SELECT id FROM alarm WHERE open_at > 0 AND open_at <= ? AND level = 0 ORDER BY id LIMIT {MOST}{{for_update}}"
        );
        let ids: Vec<i64> = self.tuples(&tx, &text, values![since]).await?;
        if ids.is_empty() {
            return Ok(vec![]);
        }
        self.bulk(&tx, &ESCALATE, &named![now], &ids).await?;
        tx.commit().await?;
        let filter = AlarmFilter { ids, limit: MOST, ..AlarmFilter::default() };
        Ok(self.list(&filter).await?.items)
    }
}
