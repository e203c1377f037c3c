//! Deleting a job, after a question.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web;
use askama::Template;

use crate::web::console::actor::By;
use crate::web::console::error_page::PageError;
use crate::web::page::answer::render;
use crate::web::page::context::PageContext;
use crate::web::page::flash::redirect_with_flash;
use crate::web::state::State;
use carillon_store::Job;

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
    let job = state.engine.jobs().get(*id).await?;
    Ok(render(&DeleteQuestion { context, job }, StatusCode::OK))
}

/// `POST /jobs/{id}/delete`
pub async fn delete(state: web::Data<State>, by: By, id: web::Path<i64>) -> Result<HttpResponse, PageError> {
    let job = state.engine.jobs().delete(*id, &by.0).await?;
    let text = format!("{} is deleted. Its runs are kept.", job.draft.name);
    Ok(redirect_with_flash("/jobs", "ok", &text))
}
