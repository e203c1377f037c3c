//! Deleting a job, after a question.

use actix_web::http::StatusCode;
use actix_web::web;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use crate::store::Job;
use crate::web::console::actor::actor;
use crate::web::console::error_page::PageError;
use crate::web::console::jobs::lookup::{find_job, gone};
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::answer::render;
use crate::web::page::context::PageContext;
use crate::web::page::flash::redirect_with_flash;
use crate::web::state::State;

#[derive(Template)]
#[template(path = "jobs/delete.html")]
struct DeleteQuestion {
    context: PageContext,
    job: Job,
}

/// `GET /jobs/{id}/delete` asks.
pub async fn ask_delete(
    state: web::Data<State>,
    context: PageContext,
    id: web::Path<i64>,
) -> Result<HttpResponse, PageError> {
    let job = find_job(&state, *id).await?;
    Ok(render(&DeleteQuestion { context, job }, StatusCode::OK))
}

/// `POST /jobs/{id}/delete`
pub async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    id: web::Path<i64>,
) -> Result<HttpResponse, PageError> {
    let actor = actor(&viewer, &request);
    let job = state.store.delete_job(*id, state.clock.now(), &actor).await.map_err(gone)?;
    state.engine.job_changed(job.shard);
    let text = format!("{} is deleted. Its runs are kept.", job.draft.name);
    Ok(redirect_with_flash("/jobs", "ok", &text))
}
