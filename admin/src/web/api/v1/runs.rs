//! `/runs`

use actix_web::HttpResponse;
use actix_web::web::Data;

use super::caller::Caller;
use super::error::Error;
use super::params::Id;
use super::query::Query;
use super::views::{KillJson, List, LogJson, RunJson};
use crate::store::RunFilter;
use crate::web::State;

pub async fn list(state: Data<State>, mut query: Query) -> Result<HttpResponse, Error> {
    let filter = RunFilter {
        job_id: query.id("job_id")?,
        app: query.text("app")?,
        states: query.words("state")?,
        cause: query.word("cause")?,
        from: query.time("from")?,
        to: query.time("to")?,
        after: query.id("after")?,
        above: None,
        limit: query.limit()?,
    };
    query.finish()?;
    let page = state.store.runs(&filter).await?;
    Ok(HttpResponse::Ok().json(List::of(page, RunJson::from, |id| id)))
}

pub async fn get(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let missing = || Error::not_found(format!("there is no run {}", id.0));
    let run = state.store.run(id.0).await?.ok_or_else(missing)?;
    let choice = state.store.choice(&run).await?;
    Ok(HttpResponse::Ok().json(RunJson::from(run).with(choice)))
}

pub async fn kill(
    state: Data<State>,
    id: Id,
    query: Query,
    caller: Caller,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let kill = KillJson::from(state.pipeline.kill(id.0).await?);
    let detail = serde_json::json!(kill);
    state
        .store
        .record_audit(&caller.0, "kill", ("run", id.0), detail, state.clock.now())
        .await?;
    Ok(HttpResponse::Ok().json(kill))
}

pub async fn log(state: Data<State>, id: Id, mut query: Query) -> Result<HttpResponse, Error> {
    let from = query.number("from", 1, i32::MAX as u32)?;
    query.finish()?;
    let page = state.pipeline.read_log(id.0, from as i32).await?;
    Ok(HttpResponse::Ok().json(LogJson::from(page)))
}
