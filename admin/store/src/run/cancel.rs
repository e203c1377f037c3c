//! Looking after single runs: whom to ask about one, ending one, and finding those that need a hand.

use carillon_scheduler::{Millis, RunState};
use sea_orm::{DbBackend, Value};

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::{Error, Result, Store};

/// Where a run is or was, for asking its executor.
#[derive(Clone, Debug)]
pub struct Whereabouts {
    pub run_id: i64,
    pub job_id: i64,
    pub app: Option<String>,
    pub state: RunState,
    pub address: Option<String>,
    /// The wire's `logDateTime`.
    pub due_at: Millis,
    pub sends: i32,
}

/// MariaDB would walk the whole table for `UPDATE … WHERE id IN (SELECT …)`, and wait for every lock on its way.
pub(crate) const CANCEL: Text = Text {
    sqlite: "UPDATE run SET state = 12, reason = ?, finished_at = ? WHERE id IN (SELECT u.value FROM json_each(?) AS u) AND +state = 0",
    postgres: "UPDATE run SET state = 12, reason = ?, finished_at = ? WHERE id IN (SELECT unnest(?::bigint[])) AND state + 0 = 0",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id \
            SET run.state = 12, run.reason = ?, run.finished_at = ? WHERE run.state = 0",
};

pub(crate) fn cancel_values(backend: DbBackend, run_ids: &[i64], reason: &str, now: Millis) -> Vec<Value> {
    let (_, list) = dialect::id_list(backend, run_ids);
    match backend {
        DbBackend::MySql => vec![list, reason.into(), now.into()],
        _ => vec![reason.into(), now.into(), list],
    }
}

pub(crate) const NEXT_UNANSWERED: &str =
    "SELECT MIN(marked_at) FROM run WHERE shard = ? AND state = 1 AND state < 9 AND marked_at >= ?";

/// On MariaDB the states are joined as well: with the shard alone it would read the entries of all runs that have ended.
pub(crate) const OPEN_RUNS: Text = Text {
    sqlite: "SELECT run.state, COUNT(*) FROM json_each(?) AS u CROSS JOIN run ON run.shard = u.value AND run.state < 9 \
             GROUP BY run.state",
    postgres: "SELECT run.state, COUNT(*) FROM run WHERE run.shard = ANY(?::bigint[]) AND run.state < 9 GROUP BY run.state",
    mysql: "SELECT run.state, COUNT(*) FROM JSON_TABLE(?, '$[*]' COLUMNS (shard INT PATH '$')) AS u \
            STRAIGHT_JOIN JSON_TABLE('[0,1,2,3,4]', '$[*]' COLUMNS (state SMALLINT PATH '$')) AS s \
            STRAIGHT_JOIN run FORCE INDEX (run_open) ON run.shard = u.shard AND run.state = s.state GROUP BY run.state",
};

impl Store {
    pub async fn whereabouts(&self, run_id: i64) -> Result<Option<Whereabouts>> {
        let text = "SELECT run.id, run.job_id, app.name, run.state, run.address, run.due_at, run.sends \
                    FROM run LEFT JOIN app ON app.id = run.app_id WHERE run.id = ?";
        let Some(row) = self.one(self.hot_reads(), text, vec![run_id.into()]).await? else {
            return Ok(None);
        };
        let state: i16 = row.try_get_by_index(3)?;
        Ok(Some(Whereabouts {
            run_id: row.try_get_by_index(0)?,
            job_id: row.try_get_by_index(1)?,
            app: row.try_get_by_index(2)?,
            state: RunState::from_code(state)
                .ok_or_else(|| Error::Corrupt(format!("state {state} of run {run_id}")))?,
            address: row.try_get_by_index(4)?,
            due_at: row.try_get_by_index(5)?,
            sends: row.try_get_by_index(6)?,
        }))
    }

    /// Ends runs that were never sent. Answers how many were still `claimed`.
    pub async fn cancel(&self, run_ids: &[i64], reason: &str, now: Millis) -> Result<u64> {
        let values = cancel_values(self.backend, run_ids, reason, now);
        let done = self.execute(&self.write, CANCEL.of(self.backend), values).await?;
        if done.rows_affected() > 0 {
            self.mend_chains_of(run_ids, now).await?;
        }
        Ok(done.rows_affected())
    }

    /// The next instant of a fixed delay is counted from the end of a run, whatever end that was.
    async fn mend_chains_of(&self, run_ids: &[i64], now: Millis) -> Result<()> {
        let (list, value) = dialect::id_list(self.backend, run_ids);
        let text = format!("SELECT DISTINCT job_id FROM run WHERE id IN ({list}) AND chained = TRUE AND state = 12");
        for row in self.all(&self.write, &text, vec![value]).await? {
            self.mend_chain(row.try_get_by_index(0)?, now).await?;
        }
        Ok(())
    }

    /// Notes that the end of a run is asked for, before its executor is: a faster callback must find it.
    pub async fn note_kill(&self, run_id: i64, now: Millis) -> Result<bool> {
        let text = "UPDATE run SET kill_asked_at = COALESCE(kill_asked_at, ?) WHERE id = ? AND state IN (1, 2, 3, 4)";
        Ok(self.execute(&self.changes, text, vec![now.into(), run_id.into()]).await?.rows_affected() == 1)
    }

    /// The executor would not: nothing was asked after all.
    pub async fn forget_kill(&self, run_id: i64) -> Result<()> {
        self.execute(
            &self.changes,
            "UPDATE run SET kill_asked_at = NULL WHERE id = ? AND state < 9",
            vec![run_id.into()],
        )
        .await?;
        Ok(())
    }

    /// When the earliest of the others was marked.
    pub async fn next_unanswered(&self, shard: i32, marked_before: Millis) -> Result<Option<Millis>> {
        let values = vec![shard.into(), marked_before.into()];
        let row = self.one(self.hot_reads(), NEXT_UNANSWERED, values).await?;
        Ok(row.map(|row| row.try_get_by_index(0)).transpose()?.flatten())
    }

    /// How many runs are open, by state, in shards of these numbers.
    pub async fn open_runs(&self, shards: i32) -> Result<Vec<(RunState, i64)>> {
        let all: Vec<i64> = (0..i64::from(shards)).collect();
        let (_, list) = dialect::id_list(self.backend, &all);
        let mut counts = Vec::new();
        let text = OPEN_RUNS.of(self.backend);
        for row in self.all(self.hot_reads(), text, vec![list]).await? {
            let state: i16 = row.try_get_by_index(0)?;
            if let Some(state) = RunState::from_code(state) {
                counts.push((state, row.try_get_by_index(1)?));
            }
        }
        Ok(counts)
    }
}
