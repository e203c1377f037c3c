//! What a job's fires have to know of each other.

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::QueryResult;

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
        for id in run_ids {
            let text = "UPDATE run SET reason = ? WHERE id = ? AND state = 0";
            let reason = waits.then_some("overlap");
            self.execute(&self.write, text, vec![reason.into(), id.into()])
                .await?;
        }
        Ok(())
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
