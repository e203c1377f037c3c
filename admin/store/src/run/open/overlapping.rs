//! What a job's fires have to know of each other.

use std::collections::{BTreeSet, HashSet};

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::{DbBackend, QueryResult, Value};

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::db::row::Columns;
use crate::run::cancel::{CANCEL, cancel_values};
use crate::run::lock::Held;
use crate::{Result, Store, Transaction};

/// An open run of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    pub run_id: i64,
    pub job_id: i64,
    pub cause: Cause,
    pub fire_no: i64,
    pub state: RunState,
    pub due_at: Millis,
    pub kill_asked: bool,
    /// Its row says that it waits for an earlier fire.
    pub waits: bool,
}

/// What is to be written of runs that are still `claimed`, of any number of jobs.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    pub cancel: Vec<i64>,
    /// They wait for an earlier fire.
    pub wait: Vec<i64>,
    /// They have waited, and go now.
    pub resume: Vec<i64>,
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub cancelled: u64,
    /// Another session holds their rows: nothing has changed there yet.
    pub held_up: HashSet<i64>,
}

/// One statement for all of them, by their keys.
pub(crate) const NOTE: Text = Text {
    sqlite: "UPDATE run SET reason = ? WHERE id IN (SELECT u.value FROM json_each(?) AS u) AND +state = 0",
    postgres: "UPDATE run SET reason = ? WHERE id IN (SELECT unnest(?::bigint[])) AND state + 0 = 0",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id \
            SET run.reason = ? WHERE run.state = 0",
};

impl Store {
    /// The runs of these jobs of a shard that are `claimed`, `sending` or `running`.
    pub async fn open_runs_of(&self, shard: i32, job_ids: &[i64]) -> Result<Vec<Other>> {
        let (list, value) = dialect::id_list(self.backend, job_ids);
        let text = format!(
            "SELECT id, job_id, cause, fire_no, state, due_at, kill_asked_at, reason FROM run \
             WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND job_id IN ({list})"
        );
        let rows = self.all(self.hot_reads(), &text, vec![shard.into(), value]).await?;
        rows.iter().map(read).collect()
    }

    /// As many statements for a thousand jobs as for one. A row that another session holds is left out: it delays neither
    /// the other jobs nor the tick.
    pub async fn write_overlaps(&self, verdicts: &Verdicts, now: Millis) -> Result<Written> {
        if verdicts.is_empty() {
            return Ok(Written::default());
        }
        let mut tries = 0;
        let (written, chains) = loop {
            match self.try_write_overlaps(verdicts, now).await {
                Err(error) if error.is_lock_conflict() && tries < 3 => tries += 1,
                other => break other?,
            }
        };
        for job_id in chains {
            // The runs have ended all the same; the audit of fixed delays finds a chain that is left broken.
            if let Err(error) = self.mend_chain(job_id, now).await {
                tracing::warn!(%error, job.id = job_id, "a fixed delay could not go on yet");
            }
        }
        Ok(written)
    }

    /// Answers the jobs too whose next instant is counted from the end of a run that was cancelled.
    async fn try_write_overlaps(&self, verdicts: &Verdicts, now: Millis) -> Result<(Written, BTreeSet<i64>)> {
        let tx = self.begin().await?;
        let locked = self.lock_runs(&tx, &verdicts.all(), Held::Pass).await?;
        let free = |ids: &[i64]| -> Vec<i64> {
            let free = ids.iter().filter(|id| !locked.held_up.contains(id));
            free.copied().collect()
        };
        let (cancel, mut cancelled) = (free(&verdicts.cancel), 0);
        if !cancel.is_empty() {
            let values = cancel_values(self.backend, &cancel, "overlap", now);
            let done = self.execute(&tx, CANCEL.of(self.backend), values).await?;
            cancelled = done.rows_affected();
        }
        self.note_overlap(&tx, &free(&verdicts.wait), true).await?;
        self.note_overlap(&tx, &free(&verdicts.resume), false).await?;
        tx.commit().await?;
        let ended = cancel.iter().filter_map(|id| locked.by_id.get(id));
        let chains = ended.filter(|run| run.chained && run.state == RunState::Claimed).map(|run| run.job_id).collect();
        let held_up = locked.held_up;
        Ok((Written { cancelled, held_up }, chains))
    }

    /// Says in the rows of runs that are still `claimed` that they wait for an earlier fire, or no longer.
    async fn note_overlap(&self, tx: &Transaction, run_ids: &[i64], waits: bool) -> Result<()> {
        if run_ids.is_empty() {
            return Ok(());
        }
        let (_, list) = dialect::id_list(self.backend, run_ids);
        let reason = Value::from(waits.then_some("overlap"));
        let values = match self.backend {
            DbBackend::MySql => vec![list, reason],
            _ => vec![reason, list],
        };
        self.execute(tx, NOTE.of(self.backend), values).await?;
        Ok(())
    }
}

impl Verdicts {
    fn all(&self) -> Vec<i64> {
        [&self.cancel[..], &self.wait, &self.resume].concat()
    }

    fn is_empty(&self) -> bool {
        self.all().is_empty()
    }
}

fn read(row: &QueryResult) -> Result<Other> {
    let mut columns = Columns::of(row);
    Ok(Other {
        run_id: columns.next()?,
        job_id: columns.next()?,
        cause: columns.code(Cause::from_code)?,
        fire_no: columns.next()?,
        state: columns.code(RunState::from_code)?,
        due_at: columns.next()?,
        kill_asked: columns.next::<Option<i64>>()?.is_some(),
        waits: columns.next::<Option<String>>()?.as_deref() == Some("overlap"),
    })
}
