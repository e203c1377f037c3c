//! `/jobs`: the definitions.

use actix_web::web::Json;
use carillon_store::{Job, JobFilter, JobSort};

use super::filter::JobFilterRequest;
use crate::web::api::answer::Answer;
use crate::web::api::extract::{Caller, Id, Query};
use crate::web::api::view::{JobView, List};
use crate::web::state::{Shared, State};

pub async fn list(state: Shared, caller: Caller, query: Query) -> Answer<List<JobView, i64>> {
    let now = state.clock.now();
    let wanted = format!("one of {}", JobSort::WORDS.join(", "));
    let sort = query.parsed("sort", &wanted, |word| JobSort::from_word(word, now))?.unwrap_or_default();
    let filter = JobFilterRequest::read(&query)?.resolve(&state, &caller).await?;
    let filter = JobFilter { sort, after: query.id("after")?, limit: query.limit()?, ..filter };
    let mut page = state.store.jobs().list(&filter).await?;
    state.store.jobs().show_next_fires(&mut page.items, now).await?;
    Ok(Json(List::from_page(page, JobView::from, |id| id)))
}

pub async fn get(state: Shared, id: Id) -> Answer<JobView> {
    let job = state.engine.jobs().get(id.0).await?;
    with_next_fire(&state, job).await
}

/// A job as an answer, with its next fire.
pub async fn with_next_fire(state: &State, job: Job) -> Answer<JobView> {
    let mut jobs = [job];
    state.store.jobs().show_next_fires(&mut jobs, state.clock.now()).await?;
    let [job] = jobs;
    Ok(Json(job.into()))
}
