//! Jobs are created, changed and deleted.

use carillon_scheduler::JobDraft;
use carillon_store::Page;
use serde_json::Value;

use super::definition::{self, MAX_JOBS, broken_rules, draft};
use super::list::with_next_fire;
use super::request::{JobBatch, JobUpdate};
use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, JobKey, Key, RequestBody};
use crate::web::api::view::{JobRequest, JobView, List};
use crate::web::state::Shared;

pub struct NewJob(JobDraft);

impl RequestBody for NewJob {
    type Schema = JobRequest;
    const WHAT: &'static str = "a job";

    fn read(value: Value) -> Result<Self, Error> {
        draft(value).map(Self)
    }
}

pub async fn create(state: Shared, caller: Caller, key: Key, body: Body<NewJob>) -> Result<Created<JobView>, Error> {
    let job = state.engine.jobs().create(body.0.0, key.0.as_deref(), &caller.0).await?;
    Ok(Created::at(format!("/api/v1/jobs/{}", job.id), job))
}

pub struct NewJobs(Vec<JobDraft>);

impl RequestBody for NewJobs {
    type Schema = JobBatch;
    const WHAT: &'static str = "an array of jobs";
    const LIMIT: usize = 16 * 1024 * 1024;

    fn read(value: Value) -> Result<Self, Error> {
        let Value::Array(values) = value else {
            return Err(Error::invalid("the body must be an array of jobs"));
        };
        if values.is_empty() || values.len() > MAX_JOBS {
            return Err(Error::invalid(format!("the array has {} jobs; 1 to {MAX_JOBS} are allowed", values.len())));
        }
        let read: Vec<Result<JobDraft, Error>> = values.into_iter().map(draft).collect();
        if read.iter().all(Result::is_ok) {
            return Ok(Self(read.into_iter().flatten().collect()));
        }
        let mut faults = vec![];
        for (index, read) in read.into_iter().enumerate() {
            let of_job = match read {
                Ok(draft) => broken_rules(&draft).into_iter().map(Error::from).collect(),
                Err(error) => vec![error],
            };
            faults.extend(of_job.into_iter().map(|error| error.inside(&format!("[{index}]"))));
        }
        Err(Error::all(faults))
    }
}

pub async fn create_batch(
    state: Shared,
    caller: Caller,
    key: Key,
    body: Body<NewJobs>,
) -> Result<Created<List<JobView, i64>>, Error> {
    let items = state.engine.jobs().create_all(body.0.0, key.0.as_deref(), &caller.0).await?;
    Ok(Created::new(List::from_page(Page { items, next: None }, JobView::from, |id: i64| id)))
}

pub async fn update(state: Shared, id: Id, caller: Caller, body: Body<JobUpdate>) -> Answer<JobView> {
    let JobUpdate { value, revision } = body.0;
    let draft = definition::update(value, id.0)?;
    let job = state.declarations.update_job(id.0, &draft, revision, &caller.0).await?;
    with_next_fire(&state, job).await
}

pub async fn get_by_key(state: Shared, app: Id, key: JobKey) -> Answer<JobView> {
    let job = state.engine.jobs().with_key(app.0, &key.0).await?;
    with_next_fire(&state, job).await
}

pub async fn put_by_key(state: Shared, app: Id, key: JobKey, caller: Caller, body: Body<JobUpdate>) -> Answer<JobView> {
    let JobUpdate { value, revision } = body.0;
    let name = state.engine.apps().get(app.0).await?.name;
    let draft = definition::with_key(value, &name, &key.0)?;
    let job = state.declarations.put_job(app.0, draft, revision, &caller.0).await?;
    with_next_fire(&state, job).await
}

pub async fn delete(state: Shared, id: Id, caller: Caller) -> Result<NoContent, Error> {
    state.engine.jobs().delete(id.0, &caller.0).await?;
    Ok(NoContent)
}
