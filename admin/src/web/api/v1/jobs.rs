//! `/jobs`: the definitions.

mod act;
mod create;

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};

use carillon_scheduler::KindDraft;

use super::body;
use super::caller::Caller;
use super::definition;
use super::error::Error;
use super::params::Id;
use super::query::Query;
use super::views::{JobJson, List};
use crate::store::{Job, JobFilter};
use crate::web::State;

pub use act::{disable, enable, run};
pub use create::{create, create_batch};

/// Words of a schedule's `kind`.
pub const KINDS: [&str; 7] = KindDraft::WORDS;

pub async fn list(state: Data<State>, mut query: Query) -> Result<HttpResponse, Error> {
    let kinds = format!("one of {}", KINDS.join(", "));
    let kind = |text: &str| KINDS.contains(&text).then(|| text.to_owned());
    let filter = JobFilter {
        text: query.text("text")?,
        app: query.text("app")?,
        enabled: query.flag("enabled")?,
        kind: query.other("kind", &kinds, kind)?,
        after: query.id("after")?,
        limit: query.limit()?,
    };
    query.finish()?;
    let mut page = state.store.jobs(&filter).await?;
    let now = state.clock.now();
    state.store.show_next_fires(&mut page.items, now).await?;
    Ok(HttpResponse::Ok().json(List::of(page, JobJson::from, |id| id)))
}

pub async fn get(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let job = find(&state, id.0).await?;
    shown(&state, job).await
}

/// A job as an answer, with its next fire.
async fn shown(state: &State, job: Job) -> Result<HttpResponse, Error> {
    let mut jobs = [job];
    let now = state.clock.now();
    state.store.show_next_fires(&mut jobs, now).await?;
    let [job] = jobs;
    Ok(HttpResponse::Ok().json(JobJson::from(job)))
}

pub async fn update(
    state: Data<State>,
    id: Id,
    query: Query,
    caller: Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let value = body::required(payload, body::OBJECT, "the whole job").await?;
    let sent = definition::sent_back(value, id.0)?;
    // A job that does not exist is the first thing to say.
    let before = find(&state, id.0).await?;
    let now = state.clock.now();
    let drafts = std::slice::from_ref(&sent.draft);
    let mut known = definition::known(&state, drafts, Some(&before)).await?;
    let definition = definition::check(&sent.draft, &mut known, Some(&before), now)?;
    let job = state.store.update_job(id.0, &definition, sent.revision, now, &caller.0).await?;
    state.pipeline.job_changed(job.shard);
    shown(&state, job).await
}

pub async fn delete(state: Data<State>, id: Id, query: Query, caller: Caller) -> Result<HttpResponse, Error> {
    query.finish()?;
    let job = state.store.delete_job(id.0, state.clock.now(), &caller.0).await?;
    state.pipeline.job_changed(job.shard);
    Ok(HttpResponse::NoContent().finish())
}

pub async fn find(state: &State, id: i64) -> Result<Job, Error> {
    let missing = || Error::not_found(format!("there is no job {id}"));
    state.store.job(id).await?.ok_or_else(missing)
}
