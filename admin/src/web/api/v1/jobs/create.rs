//! New jobs.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload, block};
use carillon_scheduler::JobDraft;
use serde_json::Value;

use super::super::caller::{Caller, Key};
use super::super::error::Error;
use super::super::query::Query;
use super::super::views::{JobJson, List};
use super::super::{body, definition};
use crate::store::{Actor, Definition, Job};
use crate::web::State;

/// Jobs in one batch.
const MOST: usize = 1000;

pub async fn create(
    state: Data<State>,
    query: Query,
    caller: Caller,
    key: Key,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let value = body::required(payload, body::OBJECT, "a job").await?;
    let draft = definition::draft(value)?;
    let mut known = definition::known(&state, std::slice::from_ref(&draft), None).await?;
    let definition = definition::check(&draft, &mut known, None, state.clock.now())?;
    let jobs = store(&state, vec![definition], &caller.0, key).await?;
    let job = jobs.into_iter().next().ok_or_else(Error::internal)?;
    let place = ("Location", format!("/api/v1/jobs/{}", job.id));
    Ok(HttpResponse::Created().insert_header(place).json(JobJson::from(job)))
}

pub async fn create_batch(
    state: Data<State>,
    query: Query,
    caller: Caller,
    key: Key,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let value = body::required(payload, body::BATCH, "an array of jobs").await?;
    let drafts = drafts(value)?;
    let mut known = definition::known(&state, &drafts, None).await?;
    let now = state.clock.now();
    // A thousand schedules are some hundred milliseconds of arithmetic.
    let definitions = block(move || {
        let each = drafts.iter();
        every(each.map(|draft| definition::check(draft, &mut known, None, now)))
    });
    let definitions = definitions.await.map_err(|_| Error::internal())??;
    let jobs = store(&state, definitions, &caller.0, key).await?;
    Ok(HttpResponse::Created().json(List::<_, i64>::whole(jobs.into_iter().map(JobJson::from))))
}

fn drafts(value: Value) -> Result<Vec<JobDraft>, Error> {
    let Value::Array(values) = value else {
        return Err(Error::invalid("the body must be an array of jobs"));
    };
    if values.is_empty() || values.len() > MOST {
        return Err(Error::invalid(format!("the array has {} jobs; 1 to {MOST} are allowed", values.len())));
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
        state.pipeline.job_changed(shard);
    }
    Ok(jobs)
}
