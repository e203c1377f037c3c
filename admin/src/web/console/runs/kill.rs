//! Killing a run, after a question.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web;
use askama::Template;

use crate::web::console::actor::By;
use crate::web::console::error_page::PageError;
use crate::web::console::runs::row::RunRow;
use crate::web::page::answer::render;
use crate::web::page::context::PageContext;
use crate::web::page::flash::redirect_with_flash;
use crate::web::state::State;
use carillon_engine::manage::{Error, KillResult};

#[derive(Template)]
#[template(path = "runs/kill.html")]
struct KillQuestion {
    context: PageContext,
    row: RunRow,
}

/// `GET /runs/{id}/kill` asks.
pub async fn ask_kill(
    state: web::Data<State>,
    context: PageContext,
    id: web::Path<i64>,
) -> Result<HttpResponse, PageError> {
    let row = RunRow::new(state.engine.runs().get(*id).await?, context.now);
    if !row.run.state.is_open() {
        let to = format!("/runs/{}", *id);
        return Ok(redirect_with_flash(&to, "ok", "The run has ended already."));
    }
    Ok(render(&KillQuestion { context, row }, StatusCode::OK))
}

/// `POST /runs/{id}/kill`
pub async fn kill(state: web::Data<State>, by: By, id: web::Path<i64>) -> Result<HttpResponse, PageError> {
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
