//! What the console shows at a glance. Each of these looks at a bounded number of rows, however long the history is: the
//! run table has no index by job (the claim would pay for it), so "lately" means the newest runs.

use foldhash::{HashMap, HashMapExt as _};

use carillon_scheduler::{Millis, RunState};
use sea_orm::FromQueryResult;

use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::views::RunStore;

/// How far back "lately" reaches, in run ids.
pub const RECENT_RUN_IDS: i64 = 20_000;
/// The largest number of failing jobs that a look returns; of more, those that failed last.
pub const MOST_FAILING: i64 = 200;

/// Jobs that the engine has paused, in the words of the index `job_stopped`.
pub(crate) fn paused_by_engine(visible: &VisibleApps) -> String {
    format!(
        "SELECT id AS job_id, name, paused_reason AS reason FROM job WHERE paused_reason IS NOT NULL{} \
         ORDER BY updated_at DESC LIMIT ?",
        visible.and("app_id")
    )
}

/// A run as one mark in a row of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentRun {
    pub id: i64,
    pub state: RunState,
    pub scheduled_at: Millis,
}

/// What has run lately.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentRuns {
    /// How many are in each state.
    pub states: HashMap<RunState, i64>,
    pub late: i64,
    /// When the last of those was due.
    pub last_late_at: Option<Millis>,
    /// There may have been more before those.
    pub is_cut: bool,
}

/// A job whose last finished run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingJob {
    pub job_id: i64,
    pub last_run: i64,
    /// Failures in a row.
    pub failures: i64,
}

/// A job that the engine has paused.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct PausedByEngine {
    pub job_id: i64,
    pub name: String,
    pub reason: String,
}

impl RunStore<'_> {
    /// 0 if there never was a run.
    pub async fn newest_run(self) -> Result<i64> {
        let id: Option<i64> = self.tuple::<Option<i64>>(&self.read, "SELECT MAX(id) FROM run", vec![]).await?.flatten();
        Ok(id.unwrap_or(0))
    }

    /// The last few runs of each of these jobs that have begun, newest first, as far as they are among the newest of all.
    pub async fn latest(self, jobs: &[i64], each: i64, visible: &VisibleApps) -> Result<HashMap<i64, Vec<RecentRun>>> {
        let above = self.newest_run().await? - RECENT_RUN_IDS;
        let text = format!(
            "SELECT job_id, id, state, scheduled_at FROM (SELECT job_id, id, state, scheduled_at, \
             ROW_NUMBER() OVER (PARTITION BY job_id ORDER BY id DESC) AS place FROM run \
             WHERE id > ? AND state > {{state.claimed}} AND job_id IN ({{ids}}){}) AS placed WHERE place <= ? ORDER BY id DESC",
            visible.and("app_id")
        );
        let mut found: HashMap<i64, Vec<RecentRun>> = HashMap::new();
        let values = values![above, self.ids(jobs), each];
        for (job_id, id, state, scheduled_at) in self.tuples(&self.read, &text, values).await? {
            if let Some(state) = RunState::from_code(state) {
                found.entry(job_id).or_default().push(RecentRun { id, state, scheduled_at });
            }
        }
        Ok(found)
    }

    /// Runs since then. `late`: sent, or still to be sent, this many milliseconds after they were due.
    pub async fn recent(self, since: Millis, late: Millis, now: Millis, visible: &VisibleApps) -> Result<RecentRuns> {
        let above = self.newest_run().await? - RECENT_RUN_IDS;
        let is_late = "CASE WHEN scheduled_at >= ? AND (sent_at - due_at > ? OR sent_at IS NULL AND state = {state.claimed} AND due_at < ?) THEN";
        let text = format!(
            "SELECT state, COUNT(*), COUNT(CASE WHEN scheduled_at >= ? THEN 1 END), COUNT({is_late} 1 END), MAX({is_late} due_at END) \
             FROM run WHERE id > ?{} GROUP BY state",
            visible.and("app_id")
        );
        let values = values![since, since, late, now - late, since, late, now - late, above];
        let rows: Vec<(i16, i64, i64, i64, Option<Millis>)> = self.tuples(&self.read, &text, values).await?;
        let all: i64 = rows.iter().map(|row| row.1).sum();
        let counted: i64 = rows.iter().map(|row| row.2).sum();
        Ok(RecentRuns {
            late: rows.iter().map(|row| row.3).sum(),
            last_late_at: rows.iter().filter_map(|row| row.4).max(),
            is_cut: above > 0 && all == counted,
            states: rows.into_iter().filter_map(|row| Some((RunState::from_code(row.0)?, row.2))).collect(),
        })
    }

    /// When the oldest of the runs that count as "lately" was planned, and whether there may be older ones. None: there
    /// are no runs.
    pub async fn recent_since(self, visible: &VisibleApps) -> Result<Option<(Millis, bool)>> {
        let above = self.newest_run().await? - RECENT_RUN_IDS;
        let text = format!("SELECT scheduled_at FROM run WHERE id > ?{} ORDER BY id LIMIT 1", visible.and("app_id"));
        let first: Option<Millis> = self.tuple(&self.read, &text, values![above]).await?;
        Ok(first.map(|at| (at, above > 0)))
    }

    /// Runs in each state for each step of time, of those planned in `from..=to`: start of the step, state, count.
    pub async fn run_history(
        self,
        from: Millis,
        to: Millis,
        step: Millis,
        visible: &VisibleApps,
    ) -> Result<Vec<(Millis, RunState, i64)>> {
        let above = self.newest_run().await? - RECENT_RUN_IDS;
        // `/` divides differently on each database, `%` does not.
        let text = format!(
            "SELECT begun, state, COUNT(*) FROM (SELECT scheduled_at - scheduled_at % ? AS begun, state FROM run \
             WHERE id > ? AND scheduled_at >= ? AND scheduled_at <= ?{}) AS steps GROUP BY begun, state ORDER BY begun",
            visible.and("app_id")
        );
        let rows = self.tuples(&self.read, &text, values![step, above, from, to]).await?;
        let known = |(begun, state, count)| Some((begun, RunState::from_code(state)?, count));
        Ok(rows.into_iter().filter_map(known).collect())
    }

    /// Jobs whose last finished run failed or was lost, the longest row of failures first; at most [`MOST_FAILING`].
    pub async fn failing_jobs(self, visible: &VisibleApps) -> Result<Vec<FailingJob>> {
        let above = (self.newest_run().await? - RECENT_RUN_IDS).max(self.reports().summarized_to().await?);
        let earlier = self.failing_before(above, visible).await?;
        let text = format!(
            "SELECT job_id, failed, good FROM (SELECT job_id, MAX(CASE WHEN state IN ({{state.lost}}, {{state.failed}}) THEN id END) AS failed, \
             MAX(CASE WHEN state = {{state.succeeded}} THEN id ELSE 0 END) AS good FROM run WHERE id > ?{} GROUP BY job_id) AS tally \
             WHERE failed > good ORDER BY failed DESC LIMIT ?",
            visible.and("app_id")
        );
        let (mut failing, mut good) = (vec![], HashMap::new());
        for (job_id, last_run, last_good) in self.tuples(&self.read, &text, values![above, MOST_FAILING]).await? {
            good.insert(job_id, last_good);
            failing.push(FailingJob { job_id, last_run, failures: 0 });
        }
        if !failing.is_empty() {
            self.count_failures(&mut failing, &good, above).await?;
        }
        for job in earlier {
            match failing.iter_mut().find(|it| it.job_id == job.job_id) {
                Some(known) => known.failures += job.failures,
                None => failing.push(job),
            }
        }
        failing.sort_by_key(|job| (-job.failures, -job.last_run));
        failing.truncate(MOST_FAILING as usize);
        Ok(failing)
    }

    /// Those of enabled jobs that failed up to this run and have not succeeded since.
    async fn failing_before(self, above: i64, visible: &VisibleApps) -> Result<Vec<FailingJob>> {
        let text = format!(
            "SELECT f.job_id, f.run_id, f.failures FROM report_failing f JOIN job j ON j.id = f.job_id \
             WHERE j.enabled = TRUE{} ORDER BY f.run_id DESC LIMIT ?",
            visible.and("j.app_id")
        );
        let found: Vec<(i64, i64, i64)> = self.tuples(&self.read, &text, values![MOST_FAILING]).await?;
        let ids: Vec<i64> = found.iter().map(|(job_id, ..)| *job_id).collect();
        let text = "SELECT DISTINCT job_id FROM run WHERE id > ? AND state = {state.succeeded} AND job_id IN ({ids})";
        let mended: Vec<i64> = self.tuples(&self.read, text, values![above, self.ids(&ids)]).await?;
        let failing = |(job_id, last_run, failures)| FailingJob { job_id, last_run, failures };
        Ok(found.into_iter().filter(|(job_id, ..)| !mended.contains(job_id)).map(failing).collect())
    }

    async fn count_failures(self, failing: &mut [FailingJob], good: &HashMap<i64, i64>, above: i64) -> Result<()> {
        let ids: Vec<i64> = failing.iter().map(|job| job.job_id).collect();
        let text =
            "SELECT job_id, id FROM run WHERE id > ? AND state IN ({state.lost}, {state.failed}) AND job_id IN ({ids})";
        let mut counts: HashMap<i64, i64> = HashMap::new();
        for (job_id, id) in self.tuples::<(i64, i64)>(&self.read, text, values![above, self.ids(&ids)]).await? {
            if id > good.get(&job_id).copied().unwrap_or(0) {
                *counts.entry(job_id).or_default() += 1;
            }
        }
        for job in failing {
            job.failures = counts.get(&job.job_id).copied().unwrap_or(0);
        }
        Ok(())
    }

    /// Jobs that could not be planned and wait for an operator.
    pub async fn paused_by_engine(self, count: i64, visible: &VisibleApps) -> Result<Vec<PausedByEngine>> {
        let text = paused_by_engine(visible);
        self.all(&self.read, &text, values![count]).await
    }

    /// The apps that have an enabled job, by name.
    pub async fn apps_in_use(self, visible: &VisibleApps) -> Result<Vec<String>> {
        let text = format!(
            "SELECT a.name FROM app a WHERE EXISTS (SELECT 1 FROM job j WHERE j.app_id = a.id AND j.enabled = TRUE){} ORDER BY a.name",
            visible.and("a.id")
        );
        self.tuples(&self.read, &text, vec![]).await
    }
}
