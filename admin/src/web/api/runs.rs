//! `/runs`

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::Outcome;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use super::error::Error;
use super::extract::{Caller, Id, OBJECT, Query, object, required};
use super::view::{KillView, List, LogView, RunView};
use crate::store::RunFilter;
use crate::web::state::State;
use carillon_engine::NOTE_CHARS;

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
    Ok(HttpResponse::Ok().json(List::from_page(page, RunView::from, |id| id)))
}

pub async fn get(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let missing = || Error::not_found(format!("there is no run {}", id.0));
    let run = state.store.run(id.0).await?.ok_or_else(missing)?;
    let choice = state.store.choice(&run).await?;
    let params = state.store.params_of(&run).await?;
    Ok(HttpResponse::Ok().json(RunView::from(run).with_details(&params, choice)))
}

pub async fn kill(state: Data<State>, id: Id, query: Query, caller: Caller) -> Result<HttpResponse, Error> {
    query.finish()?;
    let kill = KillView::from(state.engine.kill(id.0).await?);
    let detail = serde_json::json!(kill);
    state.store.record_audit(&caller.0, "kill", ("run", id.0), detail, state.clock.now()).await?;
    Ok(HttpResponse::Ok().json(kill))
}

/// The outcome of a run, as a person knows it
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Resolution {
    #[schema(schema_with = outcomes)]
    outcome: String,
    /// How you know; kept in the run's message and in the audit
    #[schema(min_length = 1, max_length = 500)]
    note: String,
}

fn outcomes() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(["succeeded", "failed"]))
        .description(Some("What became of the run"))
}

pub async fn resolve(
    state: Data<State>,
    id: Id,
    query: Query,
    caller: Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let what = "{\"outcome\",\"note\"}";
    let resolution: Resolution = object(&required(payload, OBJECT, what).await?, what)?;
    let outcome = match resolution.outcome.as_str() {
        "succeeded" => Outcome::Succeeded,
        "failed" => Outcome::Failed,
        other => {
            let message = format!("`{other}` is not an outcome; allowed: succeeded, failed");
            return Err(Error::field("outcome", message));
        }
    };
    let note = resolution.note.trim();
    if !(1..=NOTE_CHARS).contains(&note.chars().count()) {
        let message = format!("1 to {NOTE_CHARS} characters: how you know");
        return Err(Error::field("note", message));
    }
    let engine = &state.engine;
    engine.resolve_by_hand(id.0, outcome, note, &caller.0).await?;
    let run = state.store.run(id.0).await?.ok_or_else(Error::internal)?;
    Ok(HttpResponse::Ok().json(RunView::from(run)))
}

pub async fn log(state: Data<State>, id: Id, mut query: Query) -> Result<HttpResponse, Error> {
    let from = query.number("from", 1, i32::MAX as u32)?;
    query.finish()?;
    let page = state.engine.read_log(id.0, from as i32).await?;
    Ok(HttpResponse::Ok().json(LogView::from(page)))
}
