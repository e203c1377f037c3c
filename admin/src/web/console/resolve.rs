//! A person says what became of a run of which the engine could not learn it.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use carillon_scheduler::{Outcome, RunState};

use super::form::Form;
use super::guard::Fields;
use super::job::actor;
use super::problem::Problem;
use super::run::find;
use super::runs::Row;
use crate::pipeline::{self, NOTE_CHARS};
use crate::web::State;
use crate::web::html::{self, Frame, see_other_with};
use crate::web::session::Viewer;

#[derive(Template)]
#[template(path = "runs/resolve.html")]
struct Page {
    frame: Frame,
    row: Row,
    form: Form,
}

async fn page(state: &State, frame: Frame, id: i64, form: Form) -> Result<HttpResponse, Problem> {
    let run = find(state, id).await?;
    if !matches!(run.state, RunState::Unknown | RunState::Lost) {
        let text = format!("The outcome of the run is known: it is {}.", run.state);
        return Ok(see_other_with(&format!("/runs/{id}"), "ok", &text));
    }
    let status = match form.is_fine() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let row = Row::of(run, frame.now);
    Ok(html::page(&Page { frame, row, form }, status))
}

/// `GET /runs/{id}/resolve` asks.
pub async fn ask(state: web::Data<State>, frame: Frame, id: web::Path<i64>) -> Result<HttpResponse, Problem> {
    page(&state, frame, *id, Form::default()).await
}

/// `POST /runs/{id}/resolve`
pub async fn resolve(
    state: web::Data<State>,
    frame: Frame,
    viewer: Viewer,
    request: HttpRequest,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    let mut form = Form::from(fields);
    let outcome = match form.value("outcome") {
        "succeeded" => Some(Outcome::Succeeded),
        "failed" => Some(Outcome::Failed),
        _ => None,
    };
    if outcome.is_none() {
        form.refuse("outcome", "Choose what became of it.");
    }
    let note = form.value("note").trim().to_owned();
    if !(1..=NOTE_CHARS).contains(&note.chars().count()) {
        let text = format!("Say how you know, in 1 to {NOTE_CHARS} characters.");
        form.refuse("note", text);
    }
    if form.is("step", "preview") {
        form.forget_errors();
        return page(&state, frame, *id, form).await;
    }
    let Some(outcome) = outcome.filter(|_| form.is_fine()) else {
        return page(&state, frame, *id, form).await;
    };
    let (to, by) = (format!("/runs/{}", *id), actor(&viewer, &request));
    match state.pipeline.resolve_by_hand(*id, outcome, &note, &by).await {
        Ok(()) => Ok(see_other_with(&to, "ok", "The run is resolved.")),
        Err(pipeline::Error::NotOpen(state)) => {
            let text = format!("The outcome of the run is known by now: it is {state}.");
            Ok(see_other_with(&to, "failed", &text))
        }
        Err(error) => Err(error.into()),
    }
}
