//! The form of a job: new, edit, copy.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use carillon_scheduler::{JobDraft, ScheduleDraft};
use serde::Deserialize;

use super::form::Form;
use super::guard::Fields;
use super::job::{actor, find, gone};
use super::job_fields::{definition, filled, normal};
use super::job_form_page::{Purpose, page};
use super::merge::{self, SEEN};
use super::problem::Problem;
use crate::store::{Error, Job, JobFilter};
use crate::web::State;
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::html::{self, Frame, see_other_with};
use crate::web::session::Viewer;

/// What the address of a new job's form may fill in.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct FormDefaults {
    app: String,
    handler: String,
}

/// `GET /jobs/new`
pub async fn new(
    state: web::Data<State>,
    frame: Frame,
    defaults: web::Query<FormDefaults>,
) -> Result<HttpResponse, Problem> {
    let mut draft = JobDraft::new(&defaults.app, "", &defaults.handler);
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
    child_jobs::add_named(&state.store, &mut form).await?;
    if form.is("step", "add_child") {
        return refused(&state, frame, Purpose::New, form).await;
    }
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
    saved(&state, job, &form, "created").await
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
    child_jobs::add_named(&state.store, &mut form).await?;
    if form.is("step", "add_child") {
        return refused(&state, frame, Purpose::Edit(&old), form).await;
    }
    let definition = definition(&state, &mut form, Some(&old), frame.zone).await?;
    let (Some(definition), false) = (definition, form.is("step", "preview")) else {
        return refused(&state, frame, Purpose::Edit(&old), form).await;
    };
    let revision = form.value("revision").parse().ok();
    let actor = actor(&viewer, &request);
    match state.store.update_job(*id, &definition, revision.or(Some(-1)), frame.now, &actor).await {
        Ok(job) => {
            state.pipeline.job_changed(job.shard);
            saved(&state, &job, &form, "saved").await
        }
        Err(Error::Refused(error)) => {
            form.refuse_all(vec![error]);
            refused(&state, frame, Purpose::Edit(&old), form).await
        }
        Err(Error::Changed(_)) => conflict(&state, frame, *id, form).await,
        Err(error) => Err(gone(error)),
    }
}

async fn saved(state: &State, job: &Job, form: &Form, verb: &str) -> Result<HttpResponse, Problem> {
    let to = match form.value("step") {
        "run" => format!("/jobs/{}/run", job.id),
        _ => format!("/jobs/{}", job.id),
    };
    let mut text = format!("{} is {verb}.", job.draft.name);
    let (name, app) = (Some(job.draft.name.clone()), Some(job.draft.app.clone()));
    let same_name = JobFilter { name, app, limit: 2, ..JobFilter::default() };
    let same_name = state.store.jobs(&same_name).await?.items;
    if let Some(other) = same_name.iter().find(|other| other.id != job.id) {
        text.push_str(&format!(" Another job of {} has the same name: #{}.", job.draft.app, other.id));
    }
    Ok(see_other_with(&to, "ok", &text))
}

/// What the list of names is asked for.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct NameQuery {
    app: String,
    text: String,
}

#[derive(Template)]
#[template(path = "jobs/names.html")]
struct Names {
    offered: Vec<ChildJob>,
}

/// `GET /jobs/names`: the choices of a field for the name of a job, while it is typed.
pub async fn names(state: web::Data<State>, query: web::Query<NameQuery>) -> Result<HttpResponse, Problem> {
    let offered = child_jobs::offered(&state.store, &query.app, &query.text).await?;
    Ok(html::page(&Names { offered }, StatusCode::OK))
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
