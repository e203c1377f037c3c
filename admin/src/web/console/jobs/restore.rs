//! A former definition of a job: what giving it back would change, and the step itself.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_scheduler::FieldError;
use carillon_store::Job;

use crate::web::access::Caller;
use crate::web::console::audit::members::{ChangeLine, change_lines};
use crate::web::forms::Fields;
use crate::web::page::{PageContext, PageResult, done, refused, show};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "jobs/restore.html")]
struct Question {
    context: PageContext,
    job: Job,
    version: i64,
    changes: Vec<ChangeLine>,
    /// Why the definition cannot be used any more.
    wrong: Vec<FieldError>,
}

/// `GET /jobs/{id}/history/{revision}/restore` asks.
pub async fn ask(state: Shared, context: PageContext, ids: Path<(i64, i64)>) -> PageResult {
    let (id, version) = ids.into_inner();
    let restored = state.engine.jobs().restorable(id, version, &context.actor).await?;
    let changes = change_lines(&context, "job", &restored.difference);
    Ok(show(&Question { changes, version, job: restored.job, wrong: restored.wrong, context }))
}

/// `POST /jobs/{id}/history/{revision}/restore`
pub async fn restore(
    state: Shared,
    by: Caller,
    context: PageContext,
    ids: Path<(i64, i64)>,
    fields: Fields,
) -> PageResult {
    let (id, revision) = ids.into_inner();
    let history = format!("/jobs/{id}/history");
    let expected = fields.get("revision").parse().unwrap_or(-1);
    match state.engine.jobs().restore(id, revision, Some(expected), &by.0).await {
        Ok(job) => {
            let text = context.t("job-is-restored").with("name", job.draft.name).with("version", revision);
            Ok(done(&format!("/jobs/{id}"), text))
        }
        Err(error @ (Error::Invalid(_) | Error::Unusable(_))) => {
            let why = context.say(&error.to_string());
            let text = context.t("job-not-restored").with("version", revision).with("why", why);
            Ok(refused(&history, text))
        }
        Err(Error::Changed(_)) => Ok(refused(&history, context.t("job-changed-meanwhile"))),
        Err(error) => Err(error.into()),
    }
}
