//! What is done with a job: enable, disable, run.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::Cause;
use carillon_scheduler::job::limits::check_params;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::web::api::error::Error;
use crate::web::api::extract::{Caller, Id, Key, OBJECT, Query, object, optional};
use crate::web::api::view::{JobView, RunView};
use crate::web::state::State;
use carillon_engine::Fire;

pub async fn enable(state: Data<State>, id: Id, query: Query, caller: Caller) -> Result<HttpResponse, Error> {
    query.finish()?;
    set_enabled(&state, id.0, true, &caller).await
}

pub async fn disable(state: Data<State>, id: Id, query: Query, caller: Caller) -> Result<HttpResponse, Error> {
    query.finish()?;
    set_enabled(&state, id.0, false, &caller).await
}

async fn set_enabled(state: &State, id: i64, enabled: bool, caller: &Caller) -> Result<HttpResponse, Error> {
    let job = state.store.set_job_enabled(id, enabled, state.clock.now(), &caller.0).await?;
    state.engine.job_changed(job.shard);
    Ok(HttpResponse::Ok().json(JobView::from(job)))
}

/// How this run differs from the job; both members may be left out
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// Instead of the job's own; at most 65,536 bytes
    #[schema(min_length = 0, max_length = 65_536)]
    params: Option<String>,
    /// The registered executor that is to run it
    address: Option<String>,
}

pub async fn run(state: Data<State>, id: Id, query: Query, key: Key, payload: Payload) -> Result<HttpResponse, Error> {
    query.finish()?;
    let request: RunRequest = match optional(payload, OBJECT).await? {
        Some(value) => object(&value, "{\"params\"?,\"address\"?}")?,
        None => RunRequest::default(),
    };
    let fire = Fire {
        job_id: id.0,
        cause: Cause::Api,
        params: request.params.map(checked_params).transpose()?,
        address: request.address,
        idempotency_key: key.0,
    };
    let run_id = state.engine.fire(fire).await?;
    let run = state.store.run(run_id).await?.ok_or_else(Error::internal)?;
    Ok(HttpResponse::Ok().json(RunView::from(run)))
}

fn checked_params(params: String) -> Result<String, Error> {
    check_params(&params).map_err(|message| Error::field("params", message))?;
    Ok(params)
}
