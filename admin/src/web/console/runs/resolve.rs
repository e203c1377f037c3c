//! A person sets the outcome of a run that the engine could not learn.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use carillon_scheduler::{Outcome, RunState};

use crate::web::console::actor::actor;
use crate::web::console::error_page::PageError;
use crate::web::console::runs::lookup::find_run;
use crate::web::console::runs::row::RunRow;
use crate::web::forms::fields::Fields;
use crate::web::forms::form::Form;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::answer::render;
use crate::web::page::context::PageContext;
use crate::web::page::flash::redirect_with_flash;
use crate::web::state::State;
use carillon_engine::{self as engine, NOTE_CHARS};

#[derive(Template)]
#[template(path = "runs/resolve.html")]
struct Page {
    context: PageContext,
    row: RunRow,
    form: Form,
}

async fn page(state: &State, context: PageContext, id: i64, form: Form) -> Result<HttpResponse, PageError> {
    let run = find_run(state, id).await?;
    if !matches!(run.state, RunState::Unknown | RunState::Lost) {
        let text = format!("The outcome of the run is known: it is {}.", run.state);
        return Ok(redirect_with_flash(&format!("/runs/{id}"), "ok", &text));
    }
    let status = match form.is_valid() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let row = RunRow::new(run, context.now);
    Ok(render(&Page { context, row, form }, status))
}

/// `GET /runs/{id}/resolve` asks.
pub async fn ask(state: web::Data<State>, context: PageContext, id: web::Path<i64>) -> Result<HttpResponse, PageError> {
    page(&state, context, *id, Form::default()).await
}

/// `POST /runs/{id}/resolve`
pub async fn resolve(
    state: web::Data<State>,
    context: PageContext,
    viewer: Viewer,
    request: HttpRequest,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, PageError> {
    let mut form = Form::from(fields);
    let outcome = match form.value("outcome") {
        "succeeded" => Some(Outcome::Succeeded),
        "failed" => Some(Outcome::Failed),
        _ => None,
    };
    if outcome.is_none() {
        form.add_error("outcome", "Choose the result.");
    }
    let note = form.value("note").trim().to_owned();
    if !(1..=NOTE_CHARS).contains(&note.chars().count()) {
        let text = format!("Say how you know, in 1 to {NOTE_CHARS} characters.");
        form.add_error("note", text);
    }
    if form.is("step", "preview") {
        form.forget_errors();
        return page(&state, context, *id, form).await;
    }
    let Some(outcome) = outcome.filter(|_| form.is_valid()) else {
        return page(&state, context, *id, form).await;
    };
    let (to, by) = (format!("/runs/{}", *id), actor(&viewer, &request));
    match state.engine.resolve_by_hand(*id, outcome, &note, &by).await {
        Ok(()) => Ok(redirect_with_flash(&to, "ok", "The run is resolved.")),
        Err(engine::Error::NotOpen(state)) => {
            let text = format!("The outcome of the run is known by now: it is {state}.");
            Ok(redirect_with_flash(&to, "failed", &text))
        }
        Err(error) => Err(error.into()),
    }
}
