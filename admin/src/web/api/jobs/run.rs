//! What is done with a job: enable, disable, run.

use actix_web::web::Json;
use carillon_engine::manage;
use carillon_scheduler::{Cause, Parts};
use carillon_store::PauseNote;

use crate::web::api::answer::Answer;
use crate::web::api::extract::{Body, Caller, Id, Key, request};
use crate::web::api::view::{self, JobView, RunView, Time};
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
    pub struct RunRequest: "{\"params\"?,\"parts\"?,\"address\"?}", MAY_BE_EMPTY = true {
        /// Instead of the job's own; at most 65,536 bytes
        #[schema(min_length = 0, max_length = 65_536)]
        params: Option<String>,
        /// Instead of the job's own. A list gives each part its parameters, so `params` must be left out; with a number each part gets
        /// `params`, or those of the job
        #[schema(value_type = Option<view::Parts>)]
        parts: Option<Parts>,
        /// The registered executor that is to run it
        address: Option<String>,
    }
}

pub async fn run(state: Shared, id: Id, caller: Caller, key: Key, body: Body<RunRequest>) -> Answer<RunView> {
    let RunRequest { params, parts, address } = body.0;
    let (job_id, cause, idempotency_key) = (id.0, Cause::Api, key.0);
    let request = manage::RunRequest { job_id, cause, params, parts, address, idempotency_key };
    let run_id = state.engine.jobs().run(request, &caller.0).await?;
    Ok(Json(state.engine.runs().get(run_id).await?.into()))
}
