//! Deleting a job, after a question.

use actix_web::web::Path;
use askama::Template;
use carillon_store::Job;
use carillon_store::run::trigger::delayed::discard::MOST_COUNTED;

use crate::web::access::Caller;
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageResult, done, show};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "jobs/delete.html")]
struct DeleteQuestion {
    context: PageContext,
    job: Job,
    parents: Vec<ChildJob>,
    /// What becomes of its scheduled runs, if it has some.
    scheduled: Option<Message>,
}

/// `GET /jobs/{id}/delete` asks.
pub async fn ask_delete(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let parents = child_jobs::parents(&state.store, job.id, &context.visible()).await?;
    let scheduled = match state.store.delayed().count_of(job.id).await? {
        0 => None,
        MOST_COUNTED => Some(context.t("job-delete-scheduled-more").with("count", MOST_COUNTED)),
        count => Some(context.t("job-delete-scheduled").with("count", count)),
    };
    Ok(show(&DeleteQuestion { context, job, parents, scheduled }))
}

/// `POST /jobs/{id}/delete`
pub async fn delete(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    let job = state.engine.jobs().delete(*id, &by.0).await?;
    Ok(done("/jobs", context.t("job-is-deleted").with("name", job.draft.name)))
}
