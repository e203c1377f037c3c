//! The form of a job: new, edit, copy.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use carillon_scheduler::{JobDraft, ScheduleDraft};
use serde::Deserialize;

use crate::store::{Error, Job, JobFilter};
use crate::web::console::actor::actor;
use crate::web::console::error_page::PageError;
use crate::web::console::jobs::form_page::{Purpose, page};
use crate::web::console::jobs::lookup::{find_job, gone};
use crate::web::forms::child_jobs;
use crate::web::forms::fields::Fields;
use crate::web::forms::form::Form;
use crate::web::forms::job_form::{definition, filled, normal};
use crate::web::forms::merge::{self, SEEN};
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::context::PageContext;
use crate::web::page::flash::redirect_with_flash;
use crate::web::state::State;

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
    context: PageContext,
    defaults: web::Query<FormDefaults>,
) -> Result<HttpResponse, PageError> {
    let mut draft = JobDraft::new(&defaults.app, "", &defaults.handler);
    draft.schedule = ScheduleDraft::cron("", context.zone_name());
    let form = filled(&draft, context.zone);
    Ok(page(&state, context, Purpose::New, form).await?.answer(StatusCode::OK))
}

/// `GET /jobs/{id}/copy`: the copy is paused, so that nothing runs twice by surprise.
pub async fn copy(
    state: web::Data<State>,
    context: PageContext,
    id: web::Path<i64>,
) -> Result<HttpResponse, PageError> {
    let job = find_job(&state, *id).await?;
    let mut draft = job.draft.clone();
    draft.enabled = false;
    let short: String = draft.name.chars().take(57).collect();
    draft.name = format!("{short} (copy)");
    let form = filled(&draft, context.zone);
    let page = page(&state, context, Purpose::Copy(&job), form).await?;
    Ok(page.answer(StatusCode::OK))
}

/// `GET /jobs/{id}/edit`
pub async fn edit(
    state: web::Data<State>,
    context: PageContext,
    id: web::Path<i64>,
) -> Result<HttpResponse, PageError> {
    let job = find_job(&state, *id).await?;
    let form = filled(&job.draft, context.zone);
    let seen = merge::seen(&form);
    let form = form.with("revision", job.revision.to_string()).with(SEEN, seen);
    let page = page(&state, context, Purpose::Edit(&job), form).await?;
    Ok(page.answer(StatusCode::OK))
}

/// `POST /jobs`
pub async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    context: PageContext,
    fields: Fields,
) -> Result<HttpResponse, PageError> {
    let mut form = Form::from(fields);
    child_jobs::add_named(&state.store, &mut form).await?;
    if form.is("step", "add_child") {
        return refused(&state, context, Purpose::New, form).await;
    }
    let definition = definition(&state, &mut form, None, context.zone).await?;
    let (Some(definition), false) = (definition, form.is("step", "preview")) else {
        return refused(&state, context, Purpose::New, form).await;
    };
    let made = state.store.create_jobs(vec![definition], context.now, &actor(&viewer, &request), None).await;
    let made = match made {
        Err(Error::Refused(error)) => {
            form.add_errors(vec![error]);
            return refused(&state, context, Purpose::New, form).await;
        }
        other => other?,
    };
    let job = made.first().ok_or_else(|| PageError::Internal("no job was made".into()))?;
    state.engine.job_changed(job.shard);
    saved(&state, job, &form, "created").await
}

/// `POST /jobs/{id}/edit`
pub async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    context: PageContext,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, PageError> {
    let old = find_job(&state, *id).await?;
    let mut form = Form::from(fields);
    child_jobs::add_named(&state.store, &mut form).await?;
    if form.is("step", "add_child") {
        return refused(&state, context, Purpose::Edit(&old), form).await;
    }
    let definition = definition(&state, &mut form, Some(&old), context.zone).await?;
    let (Some(definition), false) = (definition, form.is("step", "preview")) else {
        return refused(&state, context, Purpose::Edit(&old), form).await;
    };
    let revision = form.value("revision").parse().ok();
    let actor = actor(&viewer, &request);
    match state.store.update_job(*id, &definition, revision.or(Some(-1)), context.now, &actor).await {
        Ok(job) => {
            state.engine.job_changed(job.shard);
            saved(&state, &job, &form, "saved").await
        }
        Err(Error::Refused(error)) => {
            form.add_errors(vec![error]);
            refused(&state, context, Purpose::Edit(&old), form).await
        }
        Err(Error::Changed(_)) => conflict(&state, context, *id, form).await,
        Err(error) => Err(gone(error)),
    }
}

async fn saved(state: &State, job: &Job, form: &Form, verb: &str) -> Result<HttpResponse, PageError> {
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
    Ok(redirect_with_flash(&to, "ok", &text))
}

async fn refused(
    state: &State,
    context: PageContext,
    purpose: Purpose<'_>,
    form: Form,
) -> Result<HttpResponse, PageError> {
    let status = match form.is_valid() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Ok(page(state, context, purpose, form).await?.answer(status))
}

/// Another user saved in between. Nothing is written: the form comes back with what both have changed, and saving it again
/// writes the fields that this user changed and no others.
async fn conflict(state: &State, context: PageContext, id: i64, mut form: Form) -> Result<HttpResponse, PageError> {
    let theirs = find_job(state, id).await?;
    let stored = filled(&theirs.draft, context.zone);
    let ours = normal(&form, context.zone);
    let conflict = merge::merge(&mut form, &ours, &stored, theirs.revision);
    form.set("revision", theirs.revision.to_string());
    let mut page = page(state, context, Purpose::Edit(&theirs), form).await?;
    page.conflict = Some(conflict);
    Ok(page.answer(StatusCode::CONFLICT))
}
