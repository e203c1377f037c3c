//! Runs that their executors have: those whose executor is gone or new, that are over their time, or that are being killed.

use std::cmp::Ordering;

use carillon_scheduler::{Millis, RunState};
use sea_orm::FromQueryResult;

use crate::error::Result;
use crate::run::follow::HELD;
use crate::run::mark::is_http_request;
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
    /// It is a workflow on its way, or its items are: no executor has it.
    pub is_held: bool,
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

    /// A service has taken it, and reports its end by a callback.
    pub fn is_http(&self) -> bool {
        is_http_request(self.boot_id.as_deref())
    }

    /// When its time is over, if it has a limit.
    pub fn ends_by(&self) -> Option<Millis> {
        (self.timeout_ms > 0).then_some(self.sent_at + self.timeout_ms)
    }
}

/// Whether a run's address has, or may have, runs of the same job that were sent before it, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningBeside {
    /// One that was sent before it is running, or may have arrived: its answer is still awaited.
    pub earlier: bool,
    /// One that was sent after it is running.
    pub later: bool,
    /// One that was sent after it may have arrived: its answer is still awaited.
    pub later_unanswered: bool,
}

/// How far one look goes; the next one begins behind it.
const PAGE: i64 = 500;
/// Ids around a run among which other runs of its job are looked for.
const NEAR: i64 = 20_000;

/// What a look at a shard asks for.
#[derive(Clone, Copy, Debug)]
pub struct MonitorQuery {
    pub shard: i32,
    /// Executors whose lease was over by then.
    pub silent_since: Millis,
    /// Runs whose time was over by then.
    pub over_since: Millis,
    /// The same of runs that no executor has, which needs no time to end them.
    pub held_over_since: Millis,
}

/// The columns of [`Row`].
pub(crate) const COLUMNS: &str = "run.id AS run_id, run.job_id, app.name AS app, run.address, run.boot_id, run.due_at, \
     COALESCE(run.sent_at, run.marked_at) AS sent_at, COALESCE(job.timeout_seconds, 0) AS timeout_seconds, e.expires_at, \
     e.boot_id AS registered_boot, COALESCE(e.registered_at, 0) AS registered_at, run.follow";
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
    follow: i16,
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
            is_held: row.follow & HELD != 0,
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
             AND (((run.follow & {{follow.held}}) = 0 AND (e.expires_at IS NULL OR e.expires_at < ? OR e.boot_id <> run.boot_id)) \
             OR ((run.follow & {{follow.held}}) = 0 AND job.timeout_seconds > 0 \
             AND COALESCE(run.sent_at, run.marked_at) + job.timeout_seconds * 1000 < ?) \
             OR ((run.follow & {{follow.held_map}}) = {{follow.held}} AND job.timeout_seconds > 0 AND run.sent_at + job.timeout_seconds * 1000 < ?)) \
             ORDER BY run.id LIMIT ?"
        );
        let values = values![look.shard, after, look.silent_since, look.over_since, look.held_over_since, PAGE];
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
             WHERE run.address = ? AND run.boot_id <> ? AND (run.follow & {{follow.held}}) = 0 ORDER BY run.id"
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
    /// a run may have waited behind it.
    pub async fn last_end_beside(self, run: &RunningRun, instants: &[Millis]) -> Result<Option<Millis>> {
        let ids = (run.run_id - NEAR, run.run_id);
        self.latest_near("finished_at", "finished_at > ?", ids, run, instants).await
    }

    /// Which other runs of the same job are running at the same address, or may have arrived there.
    pub async fn running_beside(self, run: &RunningRun) -> Result<RunningBeside> {
        let text = "SELECT COALESCE(other.sent_at, other.marked_at, other.due_at), other.id, other.state FROM run \
             JOIN run other ON other.shard = run.shard AND other.state IN ({state.sending}, {state.running}) AND other.state < {state.final} \
             AND other.job_id = run.job_id AND other.address = run.address WHERE run.id = ?";
        let others: Vec<(Millis, i64, i16)> = self.tuples(&self.engine_reads, text, values![run.run_id]).await?;
        let own = (run.sent_at, run.run_id);
        let (mut earlier, mut later, mut later_unanswered) = (false, false, false);
        for (sent_at, run_id, state) in others {
            match (sent_at, run_id).cmp(&own) {
                Ordering::Less => earlier = true,
                Ordering::Equal => {}
                Ordering::Greater if state == RunState::Running.code() => later = true,
                Ordering::Greater => later_unanswered = true,
            }
        }
        Ok(RunningBeside { earlier, later, later_unanswered })
    }

    /// When the last run of the same job was sent that was sent to the same address after this one, and whose executor has
    /// reported its success, or its failure if that counts. What a person has said of a run shows nothing of its executor.
    pub async fn last_result_after(
        self,
        run: &RunningRun,
        instants: &[Millis],
        failures_count: bool,
    ) -> Result<Option<Millis>> {
        let succeeded = "state = {state.succeeded} AND (reason IS NULL OR reason <> {reason.operator})";
        // A time-out that the admin has found has no code.
        let failed =
            "state = {state.failed} AND reason IN ({reason.result}, {reason.timeout}) AND result_code IS NOT NULL";
        let ended = if failures_count { format!("({succeeded} OR {failed})") } else { succeeded.to_owned() };
        let condition = format!("COALESCE(sent_at, marked_at) > ? AND {ended}");
        let ids = (run.run_id, run.run_id + NEAR);
        self.latest_near("COALESCE(sent_at, marked_at)", &condition, ids, run, instants).await
    }

    /// The latest time of the runs of a run's job at its address, among those whose ids lie between two others, and those of
    /// these instants: no index has the job, and the next run of a job that fires seldom may be a million ids away. The
    /// condition has one parameter, when the run was sent.
    async fn latest_near(
        self,
        time: &str,
        condition: &str,
        ids: (i64, i64),
        run: &RunningRun,
        instants: &[Millis],
    ) -> Result<Option<Millis>> {
        let rest = format!("job_id = ? AND address = ? AND {condition}");
        let text = format!(
            "SELECT MAX(at) FROM (SELECT {time} AS at FROM run WHERE id > ? AND id < ? AND {rest} \
             UNION ALL SELECT {time} AS at FROM run{{index run_fire}} WHERE fire_no IN ({{ids}}) AND {rest}) AS found"
        );
        let of_run = || values![run.job_id, run.address.clone(), run.sent_at];
        let values = [values![ids.0, ids.1], of_run(), values![self.ids(instants)], of_run()].concat();
        Ok(self.tuple::<Option<_>>(&self.engine_reads, &text, values).await?.flatten())
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
