//! Killing a run, after a question.

use actix_web::web;
use askama::Template;
use carillon_engine::manage::{Error, KillResult};

use crate::web::access::Caller;
use crate::web::console::runs::row::RunRow;
use crate::web::page::{PageContext, PageResult, redirect_with_flash, show};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "runs/kill.html")]
struct KillQuestion {
    context: PageContext,
    row: RunRow,
}

/// `GET /runs/{id}/kill` asks.
pub async fn ask_kill(state: Shared, context: PageContext, id: web::Path<i64>) -> PageResult {
    let row = RunRow::new(state.engine.runs().get(*id).await?, context.now);
    if !row.run.state.is_open() {
        let to = format!("/runs/{}", *id);
        return Ok(redirect_with_flash(&to, "ok", "The run has ended already."));
    }
    Ok(show(&KillQuestion { context, row }))
}

/// `POST /runs/{id}/kill`
pub async fn kill(state: Shared, by: Caller, id: web::Path<i64>) -> PageResult {
    let to = format!("/runs/{}", *id);
    let (kind, text) = match state.engine.runs().kill(*id, &by.0).await {
        Ok(KillResult::Cancelled) => ("ok", "The run is cancelled; it had not been sent.".to_owned()),
        Ok(KillResult::Asked) => ("ok", "The executor was asked to end the run.".to_owned()),
        Ok(KillResult::AlreadyEnded) => ("ok", "The run has ended already.".to_owned()),
        Err(Error::Executor(why)) => ("failed", format!("The run goes on: {why}.")),
        Err(error) => return Err(error.into()),
    };
    Ok(redirect_with_flash(&to, kind, &text))
}
