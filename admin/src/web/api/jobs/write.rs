//! Jobs are created, changed and deleted.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload, block};
use carillon_scheduler::JobDraft;
use serde_json::Value;

use super::definition;
use super::list::{find, shown};
use crate::store::{Actor, Definition, Job, Page};
use crate::web::api::error::Error;
use crate::web::api::extract::{BATCH, Caller, Id, Key, OBJECT, Query, required};
use crate::web::api::view::{JobView, List};
use crate::web::state::State;

/// Jobs in one batch.
pub const MAX_JOBS: usize = 1000;

pub async fn create(
    state: Data<State>,
    query: Query,
    caller: Caller,
    key: Key,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let value = required(payload, OBJECT, "a job").await?;
    let draft = definition::draft(value)?;
    let mut context = definition::context(&state, std::slice::from_ref(&draft), None).await?;
    let definition = definition::check(&draft, &mut context, None, state.clock.now())?;
    let jobs = store(&state, vec![definition], &caller.0, key).await?;
    let job = jobs.into_iter().next().ok_or_else(Error::internal)?;
    let place = ("Location", format!("/api/v1/jobs/{}", job.id));
    Ok(HttpResponse::Created().insert_header(place).json(JobView::from(job)))
}

pub async fn create_batch(
    state: Data<State>,
    query: Query,
    caller: Caller,
    key: Key,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let value = required(payload, BATCH, "an array of jobs").await?;
    let drafts = drafts(value)?;
    let mut context = definition::context(&state, &drafts, None).await?;
    let now = state.clock.now();
    // A thousand schedules are some hundred milliseconds of arithmetic.
    let definitions = block(move || {
        let each = drafts.iter();
        every(each.map(|draft| definition::check(draft, &mut context, None, now)))
    });
    let definitions = definitions.await.map_err(|_| Error::internal())??;
    let jobs = store(&state, definitions, &caller.0, key).await?;
    Ok(HttpResponse::Created().json(List::from_page(Page { items: jobs, next: None }, JobView::from, |id: i64| id)))
}

pub async fn update(
    state: Data<State>,
    id: Id,
    query: Query,
    caller: Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let value = required(payload, OBJECT, "the whole job").await?;
    let update = definition::parse_update(value, id.0)?;
    // A job that does not exist is reported before anything else.
    let before = find(&state, id.0).await?;
    let now = state.clock.now();
    let drafts = std::slice::from_ref(&update.draft);
    let mut context = definition::context(&state, drafts, Some(&before)).await?;
    let definition = definition::check(&update.draft, &mut context, Some(&before), now)?;
    let job = state.store.update_job(id.0, &definition, update.revision, now, &caller.0).await?;
    state.engine.job_changed(job.shard);
    shown(&state, job).await
}

pub async fn delete(state: Data<State>, id: Id, query: Query, caller: Caller) -> Result<HttpResponse, Error> {
    query.finish()?;
    let job = state.store.delete_job(id.0, state.clock.now(), &caller.0).await?;
    state.engine.job_changed(job.shard);
    Ok(HttpResponse::NoContent().finish())
}

fn drafts(value: Value) -> Result<Vec<JobDraft>, Error> {
    let Value::Array(values) = value else {
        return Err(Error::invalid("the body must be an array of jobs"));
    };
    if values.is_empty() || values.len() > MAX_JOBS {
        return Err(Error::invalid(format!("the array has {} jobs; 1 to {MAX_JOBS} are allowed", values.len())));
    }
    every(values.into_iter().map(definition::draft))
}

/// All of a batch, or the faults of all.
fn every<T>(each: impl Iterator<Item = Result<T, Error>>) -> Result<Vec<T>, Error> {
    let (mut fine, mut faults) = (Vec::new(), Vec::new());
    for (index, one) in each.enumerate() {
        match one {
            Ok(one) => fine.push(one),
            Err(error) => faults.push(error.inside(&format!("[{index}]"))),
        }
    }
    match faults.is_empty() {
        true => Ok(fine),
        false => Err(Error::all(faults)),
    }
}

async fn store(state: &State, definitions: Vec<Definition>, actor: &Actor, key: Key) -> Result<Vec<Job>, Error> {
    let (count, now) = (definitions.len(), state.clock.now());
    let jobs = state.store.create_jobs(definitions, now, actor, key.0.as_deref()).await?;
    if jobs.len() != count {
        return Err(Error::changed(
            "jobs were made with this idempotency key before, and not all of them are still there",
        ));
    }
    let mut shards: Vec<i32> = jobs.iter().map(|job| job.shard).collect();
    shards.sort_unstable();
    shards.dedup();
    for shard in shards {
        state.engine.job_changed(shard);
    }
    Ok(jobs)
}
