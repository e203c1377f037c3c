//! Runs that their executors have: those whose executor is gone or new, that are over their time, or that are being killed.

use std::cmp::Ordering;

use carillon_scheduler::Millis;
use sea_orm::FromQueryResult;

use crate::error::Result;
use crate::views::RunStore;

/// A run in `running` that needs a look.
#[derive(Clone, Debug)]
pub struct RunningRun {
    pub run_id: i64,
    pub job_id: i64,
    /// None: the app is gone.
    pub app: Option<String>,
    pub address: Option<String>,
    /// The start of the process that the run was sent to.
    pub boot_id: Option<String>,
    /// The wire's `logDateTime`.
    pub due_at: Millis,
    pub sent_at: Millis,
    /// 0: none.
    pub timeout_ms: i64,
    /// What is registered at its address; None: nothing.
    pub registered: Option<Registered>,
}

/// The registration at a run's address.
#[derive(Clone, Debug)]
pub struct Registered {
    pub expires_at: Millis,
    pub boot_id: Option<String>,
    /// Since when it is there without a break.
    pub registered_at: Millis,
}

impl Registered {
    /// Whether it is an executor of our SDK; a stock executor names no process.
    pub fn is_own(&self) -> bool {
        self.boot_id.is_some()
    }
}

impl RunningRun {
    /// Its address has another process by now.
    pub fn has_restarted(&self) -> bool {
        let now = self.registered.as_ref().and_then(|it| it.boot_id.as_ref());
        match (&self.boot_id, now) {
            (Some(then), Some(now)) => then != now,
            _ => false,
        }
    }

    /// When its time is over, if it has a limit.
    pub fn ends_by(&self) -> Option<Millis> {
        (self.timeout_ms > 0).then_some(self.sent_at + self.timeout_ms)
    }
}

/// Whether runs of the same job are running at a run's address that were sent before it, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningBeside {
    pub earlier: bool,
    pub later: bool,
}

/// How far one look goes; the next one begins behind it.
const PAGE: i64 = 500;

/// What a look at a shard asks for.
#[derive(Clone, Copy, Debug)]
pub struct MonitorQuery {
    pub shard: i32,
    /// Executors whose lease was over by then.
    pub silent_since: Millis,
    /// Runs whose time was over by then.
    pub over_since: Millis,
}

/// The columns of [`Row`].
pub(crate) const COLUMNS: &str = "run.id AS run_id, run.job_id, app.name AS app, run.address, run.boot_id, run.due_at, \
     COALESCE(run.sent_at, run.marked_at) AS sent_at, COALESCE(job.timeout_seconds, 0) AS timeout_seconds, e.expires_at, \
     e.boot_id AS registered_boot, COALESCE(e.registered_at, 0) AS registered_at";
pub(crate) const NEIGHBOURS: &str = "LEFT JOIN app ON app.id = run.app_id LEFT JOIN job ON job.id = run.job_id \
     LEFT JOIN executor e ON e.app = app.name AND e.address = run.address";

#[derive(FromQueryResult)]
pub(crate) struct Row {
    run_id: i64,
    job_id: i64,
    app: Option<String>,
    address: Option<String>,
    boot_id: Option<String>,
    due_at: Millis,
    sent_at: Option<Millis>,
    timeout_seconds: i32,
    expires_at: Option<Millis>,
    registered_boot: Option<String>,
    registered_at: Millis,
}

impl From<Row> for RunningRun {
    fn from(row: Row) -> Self {
        let Row { run_id, job_id, app, address, boot_id, due_at, registered_at, .. } = row;
        let registered = |expires_at| Registered { expires_at, boot_id: row.registered_boot, registered_at };
        Self {
            run_id,
            job_id,
            app,
            address,
            boot_id,
            due_at,
            sent_at: row.sent_at.unwrap_or(due_at),
            timeout_ms: i64::from(row.timeout_seconds) * 1000,
            registered: row.expires_at.map(registered),
        }
    }
}

pub(crate) const AGREED: &str = "SELECT id FROM run WHERE shard = ? AND state = {state.running} AND state < {state.final} AND kill_agreed_at < ? ORDER BY id LIMIT 500";

pub(crate) const NOT_AGREED: &str = "SELECT id FROM run WHERE shard = ? AND state = {state.running} AND state < {state.final} AND kill_asked_at < ? \
     AND kill_agreed_at IS NULL ORDER BY id LIMIT 500";

impl RunStore<'_> {
    /// Runs of a shard that need a look, by id, behind `after`; None: there are no more behind them.
    pub async fn watched(self, look: MonitorQuery, after: i64) -> Result<(Vec<RunningRun>, Option<i64>)> {
        let text = format!(
            "SELECT {COLUMNS} FROM run {NEIGHBOURS} WHERE run.shard = ? AND run.state = {{state.running}} AND run.state < {{state.final}} AND run.id > ? \
             AND (e.expires_at IS NULL OR e.expires_at < ? OR e.boot_id <> run.boot_id \
             OR (job.timeout_seconds > 0 AND COALESCE(run.sent_at, run.marked_at) + job.timeout_seconds * 1000 < ?)) \
             ORDER BY run.id LIMIT ?"
        );
        let values = values![look.shard, after, look.silent_since, look.over_since, PAGE];
        let rows: Vec<Row> = self.all(&self.engine_reads, &text, values).await?;
        let found: Vec<RunningRun> = rows.into_iter().map(RunningRun::from).collect();
        let next = found.last().map(|run| run.run_id);
        let full = found.len() as i64 == PAGE;
        Ok((found, next.filter(|_| full)))
    }

    /// Runs of any shard that another process at this address has taken.
    pub async fn runs_of_earlier_boots(self, address: &str, boot_id: &str) -> Result<Vec<RunningRun>> {
        let text = format!(
            "SELECT {COLUMNS} FROM shard_lease JOIN run ON run.shard = shard_lease.shard AND run.state = {{state.running}} AND run.state < {{state.final}} {NEIGHBOURS} \
             WHERE run.address = ? AND run.boot_id <> ? ORDER BY run.id"
        );
        let values = values![address, boot_id];
        let rows: Vec<Row> = self.all(&self.engine_reads, &text, values).await?;
        Ok(rows.into_iter().map(RunningRun::from).collect())
    }

    /// The process that has a run after all: it was started between the choice and the request.
    pub async fn note_boot(self, run_id: i64, boot_id: &str) -> Result<()> {
        let text = "UPDATE run SET boot_id = ? WHERE id = ? AND state IN ({state.sending}, {state.running})";
        self.execute(&self.write, text, values![boot_id, run_id]).await.map(drop)
    }

    /// When the last earlier run of the same job ended at the same address or was given up, of those that were there at the same time:
    /// a run may have waited behind it. Looks at the runs that were made shortly before.
    pub async fn last_end_beside(self, run: &RunningRun) -> Result<Option<Millis>> {
        let text = "SELECT MAX(finished_at) FROM run WHERE id > ? AND id < ? AND job_id = ? AND address = ? AND finished_at > ?";
        let values = values![run.run_id - 20_000, run.run_id, run.job_id, run.address.clone(), run.sent_at];
        Ok(self.tuple::<Option<_>>(&self.engine_reads, text, values).await?.flatten())
    }

    /// Which other runs of the same job are running at the same address.
    pub async fn running_beside(self, run: &RunningRun) -> Result<RunningBeside> {
        let text = "SELECT COALESCE(other.sent_at, other.marked_at, other.due_at), other.id FROM run \
             JOIN run other ON other.shard = run.shard AND other.state = {state.running} AND other.state < {state.final} \
             AND other.job_id = run.job_id AND other.address = run.address WHERE run.id = ?";
        let others: Vec<(Millis, i64)> = self.tuples(&self.engine_reads, text, values![run.run_id]).await?;
        let own = (run.sent_at, run.run_id);
        let has = |order| others.iter().any(|other| other.cmp(&own) == order);
        Ok(RunningBeside { earlier: has(Ordering::Less), later: has(Ordering::Greater) })
    }

    /// When the last run of the same job was sent that was sent to the same address after this one and has succeeded. Looks at
    /// the runs that were made shortly after.
    pub async fn last_success_after(self, run: &RunningRun) -> Result<Option<Millis>> {
        let text = "SELECT MAX(COALESCE(sent_at, marked_at)) FROM run WHERE id > ? AND id < ? AND job_id = ? AND address = ? \
             AND COALESCE(sent_at, marked_at) > ? AND state = {state.succeeded}";
        let values = values![run.run_id, run.run_id + 20_000, run.job_id, run.address.clone(), run.sent_at];
        Ok(self.tuple::<Option<_>>(&self.engine_reads, text, values).await?.flatten())
    }

    /// The executor has said yes to a kill.
    pub async fn record_kill_agreed(self, run_id: i64, now: Millis) -> Result<()> {
        let text = "UPDATE run SET kill_agreed_at = ? WHERE id = ? AND kill_asked_at IS NOT NULL AND state IN ({state.sending}, {state.running})";
        self.execute(&self.write, text, values![now, run_id]).await.map(drop)
    }

    /// Runs whose executor agreed to a kill before `agreed_before` and whose end has not been reported.
    pub async fn unconfirmed_kills(self, shard: i32, agreed_before: Millis) -> Result<Vec<i64>> {
        self.tuples(&self.engine_reads, AGREED, values![shard, agreed_before]).await
    }

    /// Runs whose end was wished for before `asked_before` and whose executor was not asked, or did not answer.
    pub async fn unacknowledged_kills(self, shard: i32, asked_before: Millis) -> Result<Vec<i64>> {
        self.tuples(&self.engine_reads, NOT_AGREED, values![shard, asked_before]).await
    }
}
