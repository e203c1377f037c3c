//! Runs, their logs, and kills.

use carillon_engine::manage::KillResult;
use carillon_engine::run_log::LogPage;
use carillon_scheduler::{Cause, RunState, Traceparent};
use carillon_store::RunParams;
use carillon_store::run::route::RouteDecision;
use serde::Serialize;
use utoipa::ToSchema;

use super::choice::ChoiceView;
use super::time::Time;
use super::view_macro::view;
use super::words;

view! {
    /// A run
    pub struct RunView as Run from run: carillon_store::RunView {
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
        /// When the executor received the request, by the executor's own clock; null: not sent yet, or the executor does not say it, as those
        /// without Carillon's SDK
        received_at: Option<Time>,
        /// When its outcome was stored
        finished_at: Option<Time>,
        /// The executor
        address: Option<String>,
        /// 1, and more for retries
        #[schema(minimum = 1)]
        attempt: i32,
        /// Of a fire with several parts: the number of this one, from 0
        #[schema(minimum = 0)]
        shard_index: i32 = run.part,
        /// The number of parts of its fire
        #[schema(minimum = 1)]
        shard_total: i32 = run.parts,
        /// Of a child's run: the first run of the parent's fire
        #[schema(minimum = 1)]
        parent_run_id: Option<i64> = (run.cause == Cause::Child).then_some(run.fire_no),
        /// Of a delayed run: the number under which it was scheduled
        #[schema(minimum = 1)]
        scheduled_id: Option<i64> = (run.cause == Cause::Delayed).then_some(run.fire_no),
        /// Only in the answer for a single run: the run that this one repeats
        #[schema(minimum = 1)]
        rerun_of: Option<i64>,
        /// When its kill was requested; while the state is `running`, the end is still to come
        kill_asked_at: Option<Time>,
        /// When it had not been sent for longer than its job allows
        flagged_at: Option<Time>,
        /// What the executor reported, or why it was not run
        message: String = run.message(),
        /// The job's revision that it was sent with; null: not sent yet, or sent by a version that did not record it
        revision: Option<i64>,
        /// Only in the answer for a single run: the parameters that it was given; before it is sent, those that it would be given
        /// now. Null: not on record, or it was never sent
        params: Option<String> = None,
        /// Only in the answer for a single run: the W3C trace context of its request
        traceparent: Option<String> = None,
        /// Only in the answer for a single run. Null: no executor is chosen yet
        choice: Option<ChoiceView> = None,
    }
}

impl RunView {
    /// Adds what only the answer for a single run has.
    pub fn with_details(self, params: &RunParams, choice: Option<RouteDecision>) -> Self {
        Self { params: params.text().map(str::to_owned), choice: choice.map(ChoiceView::from), ..self }
    }

    pub fn with_traceparent(self, traceparent: Traceparent) -> Self {
        Self { traceparent: Some(traceparent.to_string()), ..self }
    }
}

view! {
    /// The result of a kill
    pub struct KillView as Kill from kill: KillResult {
        #[schema(inline)]
        outcome: KillOutcome = match kill {
            KillResult::Cancelled => KillOutcome::Cancelled,
            KillResult::Asked => KillOutcome::Asked,
            KillResult::AlreadyEnded => KillOutcome::AlreadyEnded,
        },
    }
}

/// `cancelled`: the run had not been sent and never will be. `asked`: the executor was asked; the end comes later
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum KillOutcome {
    Cancelled,
    Asked,
    AlreadyEnded,
}

view! {
    /// Lines of a run's log
    pub struct LogView as Log from page: LogPage {
        /// Number of the first line asked for
        from: i32,
        /// Number of the last line in `content`; below `from` if there is nothing new
        to: i32,
        content: String,
        /// The run has ended and everything was read
        end: bool,
    }
}
