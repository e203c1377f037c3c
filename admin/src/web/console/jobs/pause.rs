//! Pausing a job, with a note and an end, and resuming it.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{Error, PAUSE_NOTE_CHARS};
use carillon_store::{Job, PauseNote};

use crate::web::access::Caller;
use crate::web::forms::moment::moment;
use crate::web::forms::{Fields, Form};
use crate::web::page::{PageContext, PageResult, done, local_address, redirect_with_flash, render};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "jobs/pause.html")]
struct Page {
    context: PageContext,
    job: Job,
    form: Form,
}

impl Page {
    const fn note_chars(&self) -> usize {
        PAUSE_NOTE_CHARS
    }
}

/// `GET /jobs/{id}/pause` asks for a note and an end.
pub async fn ask(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let form = Form::default();
    Ok(render(&Page { context, job, form }, actix_web::http::StatusCode::OK))
}

/// `POST /jobs/{id}/disable`
pub async fn disable(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let ends_at = moment(&mut form, "until", context.zone);
    let note = PauseNote { note: form.value("note").to_owned(), ends_at };
    if form.is_valid()
        && let Some(job) = form.accept(state.engine.jobs().pause(*id, note, &by.0).await)?
    {
        let text = context.t("job-is-paused").with("name", job.draft.name);
        return Ok(done(local_address(form.value("next")), text));
    }
    let job = state.engine.jobs().get(*id).await?;
    let status = form.status();
    Ok(render(&Page { context, job, form }, status))
}

/// `POST /jobs/{id}/enable`
pub async fn enable(state: Shared, by: Caller, context: PageContext, id: Path<i64>, fields: Fields) -> PageResult {
    let (kind, text) = match state.engine.jobs().resume(*id, &by.0).await {
        Err(Error::Unusable(error)) => {
            ("failed", context.t("job-not-resumed").with("why", context.say(&error.message)))
        }
        other => ("ok", context.t("job-is-enabled").with("name", other?.draft.name)),
    };
    Ok(redirect_with_flash(local_address(fields.get("next")), kind, text))
}
