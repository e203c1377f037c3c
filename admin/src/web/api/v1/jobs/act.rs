//! What is done with a job: enable, disable, run.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::Cause;
use serde::Deserialize;
use serde_json::Value;

use super::super::body;
use super::super::caller::{Caller, Key};
use super::super::error::Error;
use super::super::params::Id;
use super::super::query::Query;
use super::super::views::{JobJson, RunJson};
use crate::pipeline::Fire;
use crate::web::State;

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
    state.pipeline.job_changed(job.shard);
    Ok(HttpResponse::Ok().json(JobJson::from(job)))
}

/// Both members may be left out, or null.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wish {
    params: Value,
    address: Value,
}

pub async fn run(state: Data<State>, id: Id, query: Query, key: Key, payload: Payload) -> Result<HttpResponse, Error> {
    query.finish()?;
    let wish: Wish = match body::read(payload, body::OBJECT).await? {
        Some(value) => body::object(value, "{\"params\"?,\"address\"?}")?,
        None => Wish::default(),
    };
    let fire = Fire {
        job_id: id.0,
        cause: Cause::Api,
        params: text("params", wish.params)?.map(checked_params).transpose()?,
        address: text("address", wish.address)?,
        idempotency_key: key.0,
    };
    let run_id = state.pipeline.fire(fire).await?;
    let run = state.store.run(run_id).await?.ok_or_else(Error::internal)?;
    Ok(HttpResponse::Ok().json(RunJson::from(run)))
}

fn text(field: &str, value: Value) -> Result<Option<String>, Error> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        other => Err(Error::field(field, format!("{other} is no text"))),
    }
}

fn checked_params(params: String) -> Result<String, Error> {
    const MOST: usize = 65_536;
    if params.len() > MOST {
        let message = format!("has {} bytes; at most {MOST} (64 KiB) are allowed", params.len());
        return Err(Error::field("params", message));
    }
    if params.contains('\0') {
        return Err(Error::field("params", "must not contain the character NUL"));
    }
    Ok(params)
}
