//! Conditions that no alarm reports: they are looked for while a rule asks for them, a bounded number of rows at a time.

use foldhash::{HashMap, HashMapExt as _};

use carillon_scheduler::Millis;
use sea_orm::FromQueryResult;

use crate::alert::failure_rows::RECENT_RUN_IDS;
use crate::db::sql::filter::Conditions;
use crate::error::Result;
use crate::views::AlertStore;

/// Rows of one look.
const MOST: i64 = 500;
/// Of runs there are more: those that no rule is about are among them.
const MOST_RUNS: i64 = 20_000;

/// A run that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct LongRun {
    pub run_id: i64,
    pub job_id: i64,
    pub job: Option<String>,
    pub app_id: i64,
    /// When it was sent.
    pub since: Millis,
}

/// An executor whose lease has ended.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct LostExecutor {
    pub app: String,
    /// None: there is no such app.
    pub app_id: Option<i64>,
    pub address: String,
    pub expired_at: Millis,
}

/// An app without an executor.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct EmptyApp {
    pub app_id: i64,
    pub app: String,
}

impl AlertStore<'_> {
    /// Runs that were sent before `before` and have not ended, of all shards. That of an HTTP job is `sending` until its answer comes.
    pub async fn running_since(self, shards: i32, before: Millis) -> Result<Vec<LongRun>> {
        let mut conditions = Conditions::default();
        conditions.among("run.shard", 0..shards);
        // The second condition is that of the index.
        conditions.add("run.state IN ({state.sending}, {state.running}) AND run.state < {state.final}", []);
        conditions.add("run.due_at <= ?", [before.into()]);
        conditions.add("COALESCE(run.sent_at, run.marked_at, run.due_at) <= ?", [before.into()]);
        let (filter, mut values) = conditions.finish();
        values.push(MOST_RUNS.into());
        let text = format!(
            "SELECT run.id AS run_id, run.job_id, job.name AS job, run.app_id, COALESCE(run.sent_at, run.marked_at, run.due_at) AS since \
             FROM run{{index run_open}} LEFT JOIN job ON job.id = run.job_id{filter} LIMIT ?"
        );
        self.all(&self.engine_reads, &text, values).await
    }

    /// How long recent successful runs of these jobs took.
    pub async fn recent_durations(self, jobs: &[i64]) -> Result<HashMap<i64, Vec<Millis>>> {
        let newest = self.tuple::<Option<i64>>(&self.engine_reads, "SELECT MAX(id) FROM run", vec![]).await?.flatten();
        let above = newest.unwrap_or(0) - RECENT_RUN_IDS;
        let text = "SELECT job_id, finished_at - sent_at FROM run WHERE id > ? AND job_id IN ({ids}) AND state = {state.succeeded} \
                    AND sent_at > 0 AND finished_at > 0";
        let values = values![above, self.ids(jobs)];
        let mut durations: HashMap<i64, Vec<Millis>> = HashMap::new();
        for (job_id, duration) in self.tuples::<(i64, Millis)>(&self.engine_reads, text, values).await? {
            durations.entry(job_id).or_default().push(duration);
        }
        Ok(durations)
    }

    /// Executors whose lease has ended in this time; those that have left in order have no row.
    pub async fn lost_executors(self, from: Millis, to: Millis) -> Result<Vec<LostExecutor>> {
        let text = "SELECT e.app, a.id AS app_id, e.address, e.expires_at AS expired_at FROM executor e LEFT JOIN app a ON a.name = e.app \
                    WHERE e.expires_at > ? AND e.expires_at <= ? ORDER BY e.expires_at LIMIT ?";
        self.all(&self.engine_reads, text, values![from, to, MOST]).await
    }

    /// Apps with an enabled job that needs an executor, and no live one.
    pub async fn apps_without_executor(self, now: Millis) -> Result<Vec<EmptyApp>> {
        let text = "SELECT a.id AS app_id, a.name AS app FROM app a WHERE NOT EXISTS (SELECT 1 FROM executor e WHERE e.app = a.name AND e.expires_at > ?) \
                    AND EXISTS (SELECT 1 FROM job j WHERE j.app_id = a.id AND j.enabled = TRUE AND j.graph_version IS NULL AND j.http IS NULL) ORDER BY a.id LIMIT ?";
        self.all(&self.engine_reads, text, values![now, MOST]).await
    }
}
