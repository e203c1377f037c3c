//! What a job's fires have to know of each other.

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::{DbBackend, QueryResult, Value};

use super::dialect::Text;
use super::row::Columns;
use super::{Result, Store, dialect};

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

/// One statement for all of them, by their keys.
pub(super) const NOTE: Text = Text {
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
        let rows = self
            .all(self.hot_reads(), &text, vec![shard.into(), value])
            .await?;
        rows.iter().map(read).collect()
    }

    /// Says in the rows of runs that are still `claimed` that they wait for an earlier fire, or no longer.
    pub async fn note_overlap(&self, run_ids: &[i64], waits: bool) -> Result<()> {
        if run_ids.is_empty() {
            return Ok(());
        }
        let mut run_ids = run_ids.to_vec();
        run_ids.sort_unstable();
        let (_, list) = dialect::id_list(self.backend, &run_ids);
        let reason = Value::from(waits.then_some("overlap"));
        let values = match self.backend {
            DbBackend::MySql => vec![list, reason],
            _ => vec![reason, list],
        };
        let mut tries = 0;
        loop {
            let text = NOTE.of(self.backend);
            match self.execute(&self.write, text, values.clone()).await {
                Err(error) if error.is_lock_conflict() && tries < 3 => tries += 1,
                other => return other.map(|_| ()),
            }
        }
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
