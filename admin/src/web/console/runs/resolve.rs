//! A person sets the outcome of a run that the engine could not learn.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{Error, Runs};
use carillon_scheduler::{Outcome, RunState};

use crate::web::access::Caller;
use crate::web::console::badge::run_badge;
use crate::web::console::runs::row::RunRow;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageResult, done, refused, render};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "runs/resolve.html")]
struct Page {
    context: PageContext,
    row: RunRow,
    form: Form,
}

async fn page(state: &State, context: PageContext, id: i64, form: Form) -> PageResult {
    let run = state.engine.runs().get(id).await?;
    if !matches!(run.state, RunState::Unknown | RunState::Lost) {
        let text = context.t("outcome-known").with("state", context.t(run_badge(run.state).word));
        return Ok(done(&format!("/runs/{id}"), text));
    }
    let status = form.status();
    let row = RunRow::new(&context, run);
    Ok(render(&Page { context, row, form }, status))
}

/// `GET /runs/{id}/resolve` asks.
pub async fn ask(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    page(&state, context, *id, Form::default()).await
}

/// `POST /runs/{id}/resolve`
pub async fn resolve(state: Shared, context: PageContext, by: Caller, id: Path<i64>, mut form: Form) -> PageResult {
    if form.is("step", "preview") {
        return page(&state, context, *id, form).await;
    }
    let note = form.value("note").to_owned();
    let outcome = match form.value("outcome") {
        "succeeded" => Outcome::Succeeded,
        "failed" => Outcome::Failed,
        _ => {
            form.add_error("outcome", "Choose the result.");
            form.add_errors(Runs::check_note(&note).err().into_iter().collect());
            return page(&state, context, *id, form).await;
        }
    };
    let to = format!("/runs/{}", *id);
    match state.engine.runs().resolve(*id, outcome, &note, &by.0).await {
        Err(Error::NotOpen(state)) => {
            let text = context.t("outcome-known-by-now").with("state", context.t(run_badge(state).word));
            Ok(refused(&to, text))
        }
        resolved => match form.accept(resolved)? {
            Some(()) => Ok(done(&to, context.t("run-resolved"))),
            None => page(&state, context, *id, form).await,
        },
    }
}
