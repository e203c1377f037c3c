//! `/jobs`: the definitions.

use actix_web::web::Json;
use carillon_scheduler::KindDraft;
use carillon_store::{Job, JobFilter};

use crate::web::api::error::Answer;
use crate::web::api::extract::{Caller, Id, Query};
use crate::web::api::view::{JobView, List};
use crate::web::state::{Shared, State};

pub async fn list(state: Shared, caller: Caller, query: Query) -> Answer<List<JobView, i64>> {
    let kinds = format!("one of {}", KindDraft::WORDS.join(", "));
    let kind = |text: &str| KindDraft::WORDS.contains(&text).then(|| text.to_owned());
    let filter = JobFilter {
        apps: caller.visible(),
        text: query.text("text")?,
        app: query.text("app")?,
        enabled: query.flag("enabled")?,
        kind: query.parsed("kind", &kinds, kind)?,
        after: query.id("after")?,
        limit: query.limit()?,
        ..JobFilter::default()
    };
    let mut page = state.store.jobs(&filter).await?;
    state.store.show_next_fires(&mut page.items, state.clock.now()).await?;
    Ok(Json(List::from_page(page, JobView::from, |id| id)))
}

pub async fn get(state: Shared, id: Id) -> Answer<JobView> {
    let job = state.engine.jobs().get(id.0).await?;
    with_next_fire(&state, job).await
}

/// A job as an answer, with its next fire.
pub async fn with_next_fire(state: &State, job: Job) -> Answer<JobView> {
    let mut jobs = [job];
    state.store.show_next_fires(&mut jobs, state.clock.now()).await?;
    let [job] = jobs;
    Ok(Json(job.into()))
}
