//! `/runs/{id}` and below.

use actix_web::web::Json;
use carillon_engine::manage::FoundRun;
use carillon_scheduler::Outcome;
use utoipa::openapi::{ObjectBuilder, Type};

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Body, Caller, Id, Query, request};
use crate::web::api::view::{AnyRunView, KillView, LogView, RunView, Time};
use crate::web::state::Shared;

pub async fn get(state: Shared, id: Id) -> Answer<AnyRunView> {
    let run = match state.engine.runs().find(id.0).await? {
        FoundRun::Run(run) => *run,
        scheduled => return Ok(Json(scheduled.into())),
    };
    let choice = state.store.runs().route_decision(&run).await?;
    let params = state.store.runs().params_of(&run).await?;
    let traceparent = run.traceparent(&state.engine.cx.cluster);
    let view = RunView::from(run).with_details(&params, choice).with_traceparent(traceparent);
    Ok(Json(AnyRunView::Run(Box::new(view))))
}

request! {
    /// The new time of a run that is scheduled
    pub struct RunMove: "{\"at\"}" {
        /// When it is due, at most five years ahead; a time that has passed means now. The time after which it is cancelled moves with it
        at: Time,
    }
}

pub async fn move_to(state: Shared, id: Id, caller: Caller, body: Body<RunMove>) -> Answer<AnyRunView> {
    state.engine.runs().move_scheduled(id.0, body.0.at.0, &caller.0).await?;
    Ok(Json(state.engine.runs().find(id.0).await?.into()))
}

pub async fn kill(state: Shared, id: Id, caller: Caller) -> Answer<KillView> {
    Ok(Json(state.engine.runs().kill(id.0, &caller.0).await?.into()))
}

request! {
    /// The outcome of a run, as a person knows it
    pub struct Resolution: "{\"outcome\",\"note\"}" {
        #[schema(schema_with = outcomes)]
        outcome: String,
        /// How you know; kept in the run's message and in the audit
        #[schema(min_length = 1, max_length = 500)]
        note: String,
    }
}

fn outcomes() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(["succeeded", "failed"]))
        .description(Some("What became of the run"))
}

pub async fn resolve(state: Shared, id: Id, caller: Caller, body: Body<Resolution>) -> Answer<RunView> {
    let Resolution { outcome, note } = body.0;
    let outcome = parse_outcome(&outcome)?;
    state.engine.runs().resolve(id.0, outcome, &note, &caller.0).await?;
    let run = state.engine.runs().get(id.0).await?;
    Ok(Json(RunView::from(run)))
}

pub fn parse_outcome(word: &str) -> Result<Outcome, Error> {
    match word {
        "succeeded" => Ok(Outcome::Succeeded),
        "failed" => Ok(Outcome::Failed),
        other => Err(Error::field("outcome", format!("`{other}` is not an outcome; allowed: succeeded, failed"))),
    }
}

pub async fn log(state: Shared, id: Id, query: Query, by: Caller) -> Answer<LogView> {
    let from = query.number("from", 1, i32::MAX as u32)?;
    Ok(Json(state.engine.runs().log(id.0, from as i32, &by.0).await?.into()))
}
