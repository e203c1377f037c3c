//! What is done with a job: enable, disable, run.

use actix_web::web::Json;
use carillon_engine::manage::{self, DelayedRun, RunLaterRequest};
use carillon_scheduler::{Cause, Parts};
use carillon_store::PauseNote;

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Body, Caller, Id, Key, Trace, request};
use crate::web::api::jobs::run_later::due_time;
use crate::web::api::view::{self, AnyRunView, GoneRunView, JobView, Time};
use crate::web::state::Shared;

pub async fn enable(state: Shared, id: Id, caller: Caller) -> Answer<JobView> {
    Ok(Json(state.engine.jobs().resume(id.0, &caller.0).await?.into()))
}

request! {
    /// What is noted of a pause; both members may be left out
    pub struct PauseRequest: "{\"note\"?,\"until\"?}", MAY_BE_EMPTY = true {
        /// Why, for the others
        #[serde(default)]
        #[schema(max_length = 500, default = "", required = false)]
        note: String,
        /// When it is resumed, and its misfire policy applied to what it has missed; if left out, it stays paused until a person resumes it. At
        /// most a year ahead
        until: Option<Time>,
    }
}

pub async fn disable(state: Shared, id: Id, caller: Caller, body: Body<PauseRequest>) -> Answer<JobView> {
    let PauseRequest { note, until } = body.0;
    let note = PauseNote { note, ends_at: until.map(|until| until.0) };
    Ok(Json(state.engine.jobs().pause(id.0, note, &caller.0).await?.into()))
}

request! {
    /// How this run differs from the job; all members may be left out
    pub struct RunRequest: "{\"params\"?,\"parts\"?,\"address\"?,\"priority\"?,\"at\"?,\"delay_seconds\"?,\"expires_after_seconds\"?}", MAY_BE_EMPTY = true {
        /// Instead of the job's own; at most 65,536 bytes
        #[schema(min_length = 0, max_length = 65_536)]
        params: Option<String>,
        /// Instead of the job's own. A list gives each part its parameters, so `params` must be left out; with a number each part gets
        /// `params`, or those of the job
        #[schema(value_type = Option<view::Parts>)]
        parts: Option<Parts>,
        /// The registered executor that is to run it
        address: Option<String>,
        /// Instead of the job's own, in seconds: where runs wait in a line, it goes before those that have waited for at most this much longer
        #[schema(minimum = -3_600, maximum = 3_600)]
        priority: Option<i32>,
        /// When it is due, at most five years ahead; a time that has passed means now. Without it the job runs now
        at: Option<Time>,
        /// In how many seconds it is due, in place of `at`
        #[schema(minimum = 0, maximum = 158_112_000)]
        delay_seconds: Option<i64>,
        /// If no node reaches it within this time after it is due, it is cancelled; null: it runs however late it is. Only with `at` or
        /// `delay_seconds`
        #[schema(minimum = 1, maximum = 158_112_000)]
        expires_after_seconds: Option<i64>,
    }
}

pub async fn run(
    state: Shared,
    id: Id,
    caller: Caller,
    key: Key,
    trace: Trace,
    body: Body<RunRequest>,
) -> Answer<AnyRunView> {
    let RunRequest { params, parts, address, priority, at, delay_seconds, expires_after_seconds } = body.0;
    let (job_id, idempotency_key, jobs) = (id.0, key.0, state.engine.jobs());
    let (run_id, is_new) = match due_time(at, delay_seconds) {
        Some(due) => {
            let run = DelayedRun { due, expires_after_seconds, params, parts, address, priority };
            let request =
                RunLaterRequest { job_id, runs: vec![run], idempotency_key, traceparent: trace.0, is_list: false };
            let recorded = jobs.run_later(request, &caller.0).await?;
            (recorded.ids[0], recorded.is_new)
        }
        None if expires_after_seconds.is_some() => {
            let why = "must be left out: the run is due now; it goes with `at` or `delay_seconds`";
            return Err(Error::field("expires_after_seconds", why));
        }
        None => {
            let cause = Cause::Api;
            let request = manage::RunRequest { job_id, cause, params, parts, address, priority, idempotency_key };
            (jobs.run_traced(request, trace.0, &caller.0).await?, true)
        }
    };
    match state.engine.runs().find(run_id).await {
        Err(manage::Error::Missing(_)) if !is_new => Ok(Json(AnyRunView::Gone(GoneRunView { id: run_id, is_new }))),
        found => Ok(Json(found?.into())),
    }
}
