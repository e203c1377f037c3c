//! `/jobs`: the definitions.

use actix_web::HttpResponse;
use actix_web::web::Data;
use carillon_scheduler::KindDraft;

use crate::store::{Job, JobFilter};
use crate::web::api::error::Error;
use crate::web::api::extract::{Id, Query};
use crate::web::api::view::{JobView, List};
use crate::web::state::State;

pub async fn list(state: Data<State>, mut query: Query) -> Result<HttpResponse, Error> {
    let kinds = format!("one of {}", KindDraft::WORDS.join(", "));
    let kind = |text: &str| KindDraft::WORDS.contains(&text).then(|| text.to_owned());
    let filter = JobFilter {
        text: query.text("text")?,
        app: query.text("app")?,
        enabled: query.flag("enabled")?,
        kind: query.other("kind", &kinds, kind)?,
        after: query.id("after")?,
        limit: query.limit()?,
        ..JobFilter::default()
    };
    query.finish()?;
    let mut page = state.store.jobs(&filter).await?;
    let now = state.clock.now();
    state.store.show_next_fires(&mut page.items, now).await?;
    Ok(HttpResponse::Ok().json(List::from_page(page, JobView::from, |id| id)))
}

pub async fn get(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let job = find(&state, id.0).await?;
    shown(&state, job).await
}

/// A job as an answer, with its next fire.
pub async fn shown(state: &State, job: Job) -> Result<HttpResponse, Error> {
    let mut jobs = [job];
    let now = state.clock.now();
    state.store.show_next_fires(&mut jobs, now).await?;
    let [job] = jobs;
    Ok(HttpResponse::Ok().json(JobView::from(job)))
}

/// # Errors
/// There is no such job.
pub async fn find(state: &State, id: i64) -> Result<Job, Error> {
    let missing = || Error::not_found(format!("there is no job {id}"));
    state.store.job(id).await?.ok_or_else(missing)
}
