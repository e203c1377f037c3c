//! One job: its page, and what can be done to it without a form.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;

use super::guard::Fields;
use super::preview::{self, Preview};
use super::problem::Problem;
use super::rules::{self, Rule};
use super::runs::Row;
use super::view::{self, Badge, ScheduleText};
use crate::store::overview::LATELY;
use crate::store::{Actor, Error, Job, Misfire, MisfireFilter, RunFilter};
use crate::web::State;
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::html::{self, Frame, local_address, see_other_with};
use crate::web::session::Viewer;
use crate::web::text::strategies;

const RUNS: u32 = 10;
const MISFIRES: u32 = 5;

pub(super) async fn find(state: &State, id: i64) -> Result<Job, Problem> {
    state.store.job(id).await?.ok_or(Problem::Missing("job"))
}

/// Who changes something, for the audit.
pub(super) fn actor(viewer: &Viewer, request: &HttpRequest) -> Actor {
    let source = request.peer_addr().map(|address| address.ip().to_string());
    Actor::new(viewer.name.clone(), source.unwrap_or_default())
}

#[derive(Template)]
#[template(path = "jobs/job.html")]
struct Page {
    frame: Frame,
    job: Job,
    badge: Badge,
    state: &'static str,
    schedule: ScheduleText,
    rules: Vec<Rule>,
    route: String,
    retry_delay: String,
    child_jobs: Vec<ChildJob>,
    preview: Preview,
    runs: Vec<Row>,
    misfires: Vec<Misfire>,
}

/// `GET /jobs/{id}`
pub async fn page(state: web::Data<State>, frame: Frame, id: web::Path<i64>) -> Result<HttpResponse, Problem> {
    let job = find(&state, *id).await?;
    let above = state.store.newest_run().await? - 10 * LATELY;
    let runs = RunFilter { job_id: Some(job.id), above: Some(above), limit: RUNS, ..RunFilter::default() };
    let runs = state.store.runs(&runs).await?;
    let misfires = MisfireFilter { job_id: Some(job.id), limit: MISFIRES, ..MisfireFilter::default() };
    let page = Page {
        badge: view::job_badge(&job),
        state: view::job_state(&job),
        schedule: view::schedule(&job.draft.schedule),
        rules: rules::of(&job, frame.zone),
        route: strategies::route(job.draft.route),
        retry_delay: strategies::retry_delay(&job.draft.retry_delay),
        child_jobs: child_jobs::by_id(&state.store, &job.draft.children).await?,
        preview: preview::of_job(&job, frame.now),
        runs: runs.items.into_iter().map(|run| Row::of(run, frame.now)).collect(),
        misfires: state.store.misfires(&misfires).await?.items,
        frame,
        job,
    };
    Ok(html::page(&page, StatusCode::OK))
}

/// `POST /jobs/{id}/enable`
pub async fn enable(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    set_enabled(&state, *id, true, &actor(&viewer, &request), fields.get("next")).await
}

/// `POST /jobs/{id}/disable`
pub async fn disable(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    set_enabled(&state, *id, false, &actor(&viewer, &request), fields.get("next")).await
}

async fn set_enabled(
    state: &State,
    id: i64,
    enabled: bool,
    actor: &Actor,
    next: &str,
) -> Result<HttpResponse, Problem> {
    let next = local_address(next);
    let now = state.clock.now();
    let job = match state.store.set_job_enabled(id, enabled, now, actor).await {
        Ok(job) => job,
        Err(Error::Invalid(error)) => {
            let text = format!("The job cannot be resumed: {}. Edit it first.", error.message);
            return Ok(see_other_with(next, "failed", &text));
        }
        other => other.map_err(gone)?,
    };
    state.pipeline.job_changed(job.shard);
    let text = match enabled {
        true => format!("{} is enabled.", job.draft.name),
        false => format!("{} is paused.", job.draft.name),
    };
    Ok(see_other_with(next, "ok", &text))
}

/// A job that was deleted meanwhile is no fault of ours.
pub(super) fn gone(error: Error) -> Problem {
    match error {
        Error::Missing(_) => Problem::Missing("job"),
        other => other.into(),
    }
}

#[derive(Template)]
#[template(path = "jobs/delete.html")]
struct Question {
    frame: Frame,
    job: Job,
}

/// `GET /jobs/{id}/delete` asks.
pub async fn ask_delete(state: web::Data<State>, frame: Frame, id: web::Path<i64>) -> Result<HttpResponse, Problem> {
    let job = find(&state, *id).await?;
    Ok(html::page(&Question { frame, job }, StatusCode::OK))
}

/// `POST /jobs/{id}/delete`
pub async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    id: web::Path<i64>,
) -> Result<HttpResponse, Problem> {
    let actor = actor(&viewer, &request);
    let job = state.store.delete_job(*id, state.clock.now(), &actor).await.map_err(gone)?;
    state.pipeline.job_changed(job.shard);
    let text = format!("{} is deleted. Its runs are kept.", job.draft.name);
    Ok(see_other_with("/jobs", "ok", &text))
}
