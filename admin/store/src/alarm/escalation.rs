//! Alarms that wait for somebody: closed when what they tell of is over, escalated when it is not over for long.

use carillon_scheduler::Millis;
use sea_orm::DbBackend;

use crate::alarm::alarms::{AlarmFilter, AlarmRow};
use crate::db::dialect;
use crate::db::dialect::Text;
use crate::{Result, Store, Transaction};

/// What ends each kind. The outcome of a run that is `unknown` or `lost` closes its alarm at once (`settle`); here it is
/// for runs that are deleted. For the other two this is the normal way out. `stuck` names a run and speaks for its job: as
/// long as one flagged run of the job waits, nobody is told of a further one, so it stays open.
const OVER: [&str; 3] = [
    "kind IN ('unknown', 'lost') AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = alarm.run_id AND run.state IN (3, 4))",
    "kind = 'stuck' AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = alarm.run_id AND run.state = 0) \
     AND NOT EXISTS (SELECT 1 FROM job JOIN run ON run.shard = job.shard AND run.job_id = job.id WHERE job.id = alarm.job_id \
     AND run.state = 0 AND run.state < 9 AND run.flagged_at IS NOT NULL)",
    "kind = 'paused' AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = alarm.job_id AND job.paused_reason IS NOT NULL)",
];

const CLOSE: Text = Text {
    sqlite: "UPDATE alarm SET open_at = NULL, closed_at = ? WHERE run_id IN (SELECT u.value FROM json_each(?) AS u) AND +open_at > 0",
    postgres: "UPDATE alarm SET open_at = NULL, closed_at = ? WHERE run_id IN (SELECT unnest(?::bigint[])) AND open_at + 0 > 0",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN alarm FORCE INDEX (alarm_run) ON alarm.run_id = u.id \
            SET alarm.open_at = NULL, alarm.closed_at = ? WHERE alarm.open_at > 0",
};

/// Escalated at once; the others are in the next round.
const MOST: u32 = 500;

impl Store {
    /// Closes alarms of which what they tell is over; answers how many.
    pub async fn close_what_is_over(&self, now: Millis) -> Result<u64> {
        let mut closed = 0;
        for over in OVER {
            let text = format!("UPDATE alarm SET open_at = NULL, closed_at = ? WHERE open_at > 0 AND {over}");
            let done = self.execute(&self.write, &text, vec![now.into()]).await?;
            closed += done.rows_affected();
        }
        Ok(closed)
    }

    /// The outcome of these runs is known after all.
    pub(crate) async fn close_alarms_of(&self, tx: &Transaction, run_ids: &[i64], now: Millis) -> Result<()> {
        if run_ids.is_empty() {
            return Ok(());
        }
        let (_, list) = dialect::id_list(self.backend, run_ids);
        let values = match self.backend {
            DbBackend::MySql => vec![list, now.into()],
            _ => vec![now.into(), list],
        };
        self.execute(tx, CLOSE.of(self.backend), values).await?;
        Ok(())
    }

    /// Raises the level of alarms that have been open since `since` or longer, and answers those.
    pub async fn escalate(&self, since: Millis, now: Millis) -> Result<Vec<AlarmRow>> {
        let tx = self.begin().await?;
        let text = format!(
            "SELECT id FROM alarm WHERE open_at > 0 AND open_at <= ? AND level = 0 ORDER BY id LIMIT {MOST}{}",
            self.for_update()
        );
        let mut ids: Vec<i64> = vec![];
        for row in self.all(&tx, &text, vec![since.into()]).await? {
            ids.push(row.try_get_by_index(0)?);
        }
        if ids.is_empty() {
            return Ok(vec![]);
        }
        // As literals: MariaDB walks the whole table for `UPDATE … WHERE id IN (SELECT …)`.
        let list: Vec<String> = ids.iter().map(i64::to_string).collect();
        let text = format!("UPDATE alarm SET level = 1, escalated_at = ? WHERE id IN ({})", list.join(","));
        self.execute(&tx, &text, vec![now.into()]).await?;
        tx.commit().await?;
        let filter = AlarmFilter { ids, limit: MOST, ..AlarmFilter::default() };
        Ok(self.alarms(&filter).await?.items)
    }
}
