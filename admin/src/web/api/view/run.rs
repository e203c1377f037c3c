//! Runs, their logs, and kills.

use carillon_engine::manage::KillResult;
use carillon_engine::run_log::LogPage;
use carillon_scheduler::{Cause, RunState};
use carillon_store::RunParams;
use carillon_store::run::route::RouteDecision;
use serde::Serialize;
use utoipa::ToSchema;

use super::choice::ChoiceView;
use super::time::Time;
use super::words;

/// A run
#[derive(Serialize, ToSchema)]
#[schema(as = Run)]
pub struct RunView {
    /// The `logId` of the executor protocol
    #[schema(minimum = 1)]
    id: i64,
    /// Its job, which may have been deleted since
    #[schema(minimum = 1)]
    job_id: i64,
    /// The app's name
    app: String,
    /// The job's name; null once the job is deleted
    job: Option<String>,
    #[schema(value_type = words::Cause)]
    cause: Cause,
    #[schema(value_type = words::RunState)]
    state: RunState,
    /// The fire's instant
    scheduled_at: Time,
    /// When it is to be sent; for a retry later than `scheduled_at`
    due_at: Time,
    /// When the request left
    sent_at: Option<Time>,
    /// When its outcome was stored
    finished_at: Option<Time>,
    /// The executor
    address: Option<String>,
    /// 1, and more for retries
    #[schema(minimum = 1)]
    attempt: i32,
    /// Of a broadcast: the number of its part, from 0
    #[schema(minimum = 0)]
    shard_index: i32,
    /// Of a broadcast: the number of parts
    #[schema(minimum = 1)]
    shard_total: i32,
    /// Of a child's run: the first run of the parent's fire
    #[schema(minimum = 1)]
    parent_run_id: Option<i64>,
    /// Only in the answer for a single run: the run that this one repeats
    #[schema(minimum = 1)]
    rerun_of: Option<i64>,
    /// When its kill was requested; while the state is `running`, the end is still to come
    kill_asked_at: Option<Time>,
    /// When it had not been sent for longer than its job allows
    flagged_at: Option<Time>,
    /// What the executor reported, or why it was not run
    message: String,
    /// The job's revision that it was sent with; null: not sent yet, or sent by a version that did not record it
    revision: Option<i64>,
    /// Only in the answer for a single run: the parameters that it was given; before it is sent, those that it would be given
    /// now. Null: not on record, or it was never sent
    params: Option<String>,
    /// Only in the answer for a single run. Null: no executor is chosen yet
    choice: Option<ChoiceView>,
}

impl RunView {
    /// Adds what only the answer for a single run has.
    pub fn with_details(self, params: &RunParams, choice: Option<RouteDecision>) -> Self {
        Self { params: params.text().map(str::to_owned), choice: choice.map(ChoiceView::from), ..self }
    }
}

impl From<carillon_store::RunView> for RunView {
    fn from(run: carillon_store::RunView) -> Self {
        Self {
            message: run.message(),
            revision: run.revision,
            params: None,
            choice: None,
            rerun_of: run.rerun_of,
            id: run.id,
            job_id: run.job_id,
            app: run.app,
            job: run.job,
            cause: run.cause,
            state: run.state,
            scheduled_at: Time(run.scheduled_at),
            due_at: Time(run.due_at),
            sent_at: run.sent_at.map(Time),
            finished_at: run.finished_at.map(Time),
            address: run.address,
            attempt: run.attempt,
            shard_index: run.part,
            shard_total: run.parts,
            parent_run_id: (run.cause == Cause::Child).then_some(run.fire_no),
            kill_asked_at: run.kill_asked_at.map(Time),
            flagged_at: run.flagged_at.map(Time),
        }
    }
}

/// The result of a kill
#[derive(Serialize, ToSchema)]
#[schema(as = Kill)]
pub struct KillView {
    #[schema(inline)]
    outcome: KillOutcome,
}

/// `cancelled`: the run had not been sent and never will be. `asked`: the executor was asked; the end comes later
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum KillOutcome {
    Cancelled,
    Asked,
    AlreadyEnded,
}

impl From<KillResult> for KillView {
    fn from(kill: KillResult) -> Self {
        let outcome = match kill {
            KillResult::Cancelled => KillOutcome::Cancelled,
            KillResult::Asked => KillOutcome::Asked,
            KillResult::AlreadyEnded => KillOutcome::AlreadyEnded,
        };
        Self { outcome }
    }
}

/// Lines of a run's log
#[derive(Serialize, ToSchema)]
#[schema(as = Log)]
pub struct LogView {
    /// Number of the first line asked for
    from: i32,
    /// Number of the last line in `content`; below `from` if there is nothing new
    to: i32,
    content: String,
    /// The run has ended and everything was read
    end: bool,
}

impl From<LogPage> for LogView {
    fn from(LogPage { from, to, content, end }: LogPage) -> Self {
        Self { from, to, content, end }
    }
}
