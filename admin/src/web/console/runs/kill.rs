//! Killing a run, after a question.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{Error, FoundRun, KillResult};

use crate::web::access::Caller;
use crate::web::console::runs::row::RunRow;
use crate::web::console::runs::scheduled;
use crate::web::page::{PageContext, PageResult, done, redirect, redirect_with_flash, show};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "runs/kill.html")]
struct KillQuestion {
    context: PageContext,
    row: RunRow,
    is_workflow: bool,
    is_http: bool,
}

/// `GET /runs/{id}/kill` asks.
pub async fn ask_kill(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let run = match state.engine.runs().find(*id).await? {
        FoundRun::Scheduled(run) => return Ok(redirect(&scheduled::address(&run))),
        FoundRun::Run(run) => *run,
    };
    let row = RunRow::new(&context, run);
    if !row.run.state.is_open() {
        let to = format!("/runs/{}", *id);
        return Ok(done(&to, context.t("run-ended-already")));
    }
    let is_workflow = state.engine.runs().workflow(*id, &context.actor).await?.is_some();
    let job = state.store.jobs().get(row.run.job_id).await?;
    let is_http = job.is_some_and(|job| job.draft.http.is_some());
    Ok(show(&KillQuestion { context, row, is_workflow, is_http }))
}

/// `POST /runs/{id}/kill`
pub async fn kill(state: Shared, context: PageContext, by: Caller, id: Path<i64>) -> PageResult {
    let to = format!("/runs/{}", *id);
    let (kind, text) = match state.engine.runs().kill(*id, &by.0).await {
        Ok(KillResult::Cancelled) => ("ok", context.t("run-cancelled")),
        Ok(KillResult::Asked) => ("ok", context.t("run-end-asked")),
        Ok(KillResult::AlreadyEnded) => ("ok", context.t("run-ended-already")),
        Err(Error::Executor(why)) => ("failed", context.t("run-goes-on").with("why", context.say(&why))),
        Err(error) => return Err(error.into()),
    };
    Ok(redirect_with_flash(&to, kind, text))
}
