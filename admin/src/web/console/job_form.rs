//! The form of a job: new, edit, copy.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use carillon_scheduler::{JobDraft, ScheduleDraft};
use serde::Deserialize;

use super::form::Form;
use super::guard::Fields;
use super::job::{actor, find, gone};
use super::job_fields::{definition, filled, normal};
use super::job_form_page::{Purpose, page};
use super::merge::{self, SEEN};
use super::problem::Problem;
use crate::store::{Error, Job};
use crate::web::State;
use crate::web::html::{Frame, see_other_with};
use crate::web::session::Viewer;

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Start {
    app: String,
    handler: String,
}

/// `GET /jobs/new`
pub async fn new(state: web::Data<State>, frame: Frame, start: web::Query<Start>) -> Result<HttpResponse, Problem> {
    let mut draft = JobDraft::new(&start.app, "", &start.handler);
    draft.schedule = ScheduleDraft::cron("", frame.zone_name());
    let form = filled(&draft, frame.zone);
    Ok(page(&state, frame, Purpose::New, form).await?.answer(StatusCode::OK))
}

/// `GET /jobs/{id}/copy`: the copy is paused, so that nothing runs twice by surprise.
pub async fn copy(state: web::Data<State>, frame: Frame, id: web::Path<i64>) -> Result<HttpResponse, Problem> {
    let job = find(&state, *id).await?;
    let mut draft = job.draft.clone();
    draft.enabled = false;
    let short: String = draft.name.chars().take(57).collect();
    draft.name = format!("{short} (copy)");
    let form = filled(&draft, frame.zone);
    let page = page(&state, frame, Purpose::Copy(&job), form).await?;
    Ok(page.answer(StatusCode::OK))
}

/// `GET /jobs/{id}/edit`
pub async fn edit(state: web::Data<State>, frame: Frame, id: web::Path<i64>) -> Result<HttpResponse, Problem> {
    let job = find(&state, *id).await?;
    let form = filled(&job.draft, frame.zone);
    let seen = merge::seen(&form);
    let form = form.with("revision", job.revision.to_string()).with(SEEN, seen);
    let page = page(&state, frame, Purpose::Edit(&job), form).await?;
    Ok(page.answer(StatusCode::OK))
}

/// `POST /jobs`
pub async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    frame: Frame,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    let mut form = Form::from(fields);
    let definition = definition(&state, &mut form, None, frame.zone).await?;
    let (Some(definition), false) = (definition, form.is("step", "preview")) else {
        return refused(&state, frame, Purpose::New, form).await;
    };
    let made = state.store.create_jobs(vec![definition], frame.now, &actor(&viewer, &request), None).await;
    let made = match made {
        Err(Error::Refused(error)) => {
            form.refuse_all(vec![error]);
            return refused(&state, frame, Purpose::New, form).await;
        }
        other => other?,
    };
    let job = made.first().ok_or_else(|| Problem::Internal("no job was made".into()))?;
    state.pipeline.job_changed(job.shard);
    Ok(saved(job, &form, "made"))
}

/// `POST /jobs/{id}/edit`
pub async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    frame: Frame,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    let old = find(&state, *id).await?;
    let mut form = Form::from(fields);
    let definition = definition(&state, &mut form, Some(&old), frame.zone).await?;
    let (Some(definition), false) = (definition, form.is("step", "preview")) else {
        return refused(&state, frame, Purpose::Edit(&old), form).await;
    };
    let revision = form.value("revision").parse().ok();
    let actor = actor(&viewer, &request);
    match state.store.update_job(*id, &definition, revision.or(Some(-1)), frame.now, &actor).await {
        Ok(job) => {
            state.pipeline.job_changed(job.shard);
            Ok(saved(&job, &form, "saved"))
        }
        Err(Error::Refused(error)) => {
            form.refuse_all(vec![error]);
            refused(&state, frame, Purpose::Edit(&old), form).await
        }
        Err(Error::Changed(_)) => conflict(&state, frame, *id, form).await,
        Err(error) => Err(gone(error)),
    }
}

fn saved(job: &Job, form: &Form, verb: &str) -> HttpResponse {
    let to = match form.value("step") {
        "run" => format!("/jobs/{}/run", job.id),
        _ => format!("/jobs/{}", job.id),
    };
    see_other_with(&to, "ok", &format!("{} is {verb}.", job.draft.name))
}

async fn refused(state: &State, frame: Frame, purpose: Purpose<'_>, form: Form) -> Result<HttpResponse, Problem> {
    let status = match form.is_fine() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Ok(page(state, frame, purpose, form).await?.answer(status))
}

/// Another person saved in between. Nothing is written: the form comes back with what both have changed, and saving it
/// again puts this person's changes, and no other field, in place of theirs.
async fn conflict(state: &State, frame: Frame, id: i64, mut form: Form) -> Result<HttpResponse, Problem> {
    let theirs = find(state, id).await?;
    let stored = filled(&theirs.draft, frame.zone);
    let ours = normal(&form, frame.zone);
    let conflict = merge::merge(&mut form, &ours, &stored, theirs.revision);
    form.set("revision", theirs.revision.to_string());
    let mut page = page(state, frame, Purpose::Edit(&theirs), form).await?;
    page.conflict = Some(conflict);
    Ok(page.answer(StatusCode::CONFLICT))
}
