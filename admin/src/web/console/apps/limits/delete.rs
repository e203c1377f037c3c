//! Deleting a limit, after a question. One that jobs name stays.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{Error, LimitUse};

use crate::web::access::Caller;
use crate::web::page::{PageContext, PageResult, done, show};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "apps/limits/delete.html")]
struct DeleteQuestion {
    context: PageContext,
    limit: LimitUse,
    /// The jobs that name it, as far as the viewer sees them.
    jobs: Vec<(i64, String)>,
}

/// `GET /limits/{id}/delete` asks, or names the jobs that name the limit.
pub async fn ask_delete(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    let limits = state.engine.run_limits();
    let limit = limits.get(*id, &by.0).await?;
    let jobs = limits.jobs(&limit.rule, &by.0).await?;
    Ok(show(&DeleteQuestion { context, limit, jobs }))
}

/// `POST /limits/{id}/delete`
pub async fn delete(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    let limits = state.engine.run_limits();
    let name = limits.get(*id, &by.0).await?.rule.name;
    match limits.delete(*id, &by.0).await {
        Ok(()) => Ok(done("/limits", context.t("limit-is-deleted").with("name", name))),
        // A job has begun to name it: the question says which.
        Err(Error::InUse(_)) => ask_delete(state, by, context, id).await,
        Err(error) => Err(error.into()),
    }
}
