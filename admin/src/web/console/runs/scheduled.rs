//! Runs of a job that are scheduled; another time for one of them, or its end.

use actix_web::HttpResponse;
use actix_web::web::{Path, Query};
use askama::Template;
use carillon_engine::manage::{Error, FoundRun};
use carillon_store::{Job, ScheduledFilter, ScheduledKey, ScheduledRun};
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::forms::Form;
use crate::web::forms::moment::{self, moment};
use crate::web::page::{PageContext, PagePlace, PageResult, Pager, done, refused, render, show};
use crate::web::state::Shared;

const PAGE: u32 = 50;

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    /// The place of the page: the time and the number of a run.
    after: String,
}

impl ListQuery {
    fn place(&self) -> Option<ScheduledKey> {
        let (due_at, id) = self.after.split_once('-')?;
        Some(ScheduledKey { due_at: due_at.parse().ok()?, id: id.parse().ok()? })
    }
}

#[derive(Template)]
#[template(path = "runs/scheduled.html")]
struct ListPage {
    context: PageContext,
    job: Job,
    scheduled: Vec<ScheduledRun>,
    pager: Pager,
}

/// `GET /jobs/{id}/scheduled`
pub async fn list(
    state: Shared,
    context: PageContext,
    id: Path<i64>,
    query: Query<ListQuery>,
    place: Query<PagePlace>,
) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let filter = ScheduledFilter { job_id: job.id, after: query.place(), limit: PAGE, ..ScheduledFilter::default() };
    let page = state.store.delayed().list(&filter).await?;
    let next = page.next.map(|key| format!("{}-{}", key.due_at, key.id));
    let pager = Pager::new(&format!("/jobs/{}/scheduled?", job.id), &place, next);
    Ok(show(&ListPage { context, job, scheduled: page.items, pager }))
}

#[derive(Template)]
#[template(path = "runs/move.html")]
struct MovePage {
    context: PageContext,
    run: ScheduledRun,
    form: Form,
}

/// Where a person sees a run that is scheduled.
pub fn address(run: &ScheduledRun) -> String {
    format!("/jobs/{}/scheduled", run.job_id)
}

/// `GET /runs/{id}/move` asks for the time.
pub async fn ask(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    match state.engine.runs().find(*id).await? {
        FoundRun::Scheduled(run) => {
            let form = moment::fill(Form::default(), "at", Some(run.due_at), context.zone);
            Ok(show(&MovePage { context, run: *run, form }))
        }
        FoundRun::Run(run) => Ok(too_late(&context, run.id, &Error::NotScheduled(run.state))),
    }
}

/// Leads to the run of a trigger whose time has come.
fn too_late(context: &PageContext, id: i64, why: &Error) -> HttpResponse {
    refused(&format!("/runs/{id}"), context.say(&why.to_string()))
}

/// `POST /runs/{id}/cancel` ends no run that is on its way: that is asked for on its own page.
pub async fn cancel(state: Shared, context: PageContext, by: Caller, id: Path<i64>) -> PageResult {
    match state.engine.runs().cancel_scheduled(*id, &by.0).await {
        Ok(()) => Ok(done(&format!("/runs/{}", *id), context.t("run-cancelled"))),
        Err(why @ Error::NotScheduled(_)) => Ok(too_late(&context, *id, &why)),
        Err(error) => Err(error.into()),
    }
}

/// `POST /runs/{id}/move`
pub async fn move_to(state: Shared, context: PageContext, by: Caller, id: Path<i64>, mut form: Form) -> PageResult {
    let run = match state.engine.runs().find(*id).await? {
        FoundRun::Scheduled(run) => *run,
        FoundRun::Run(run) => return Ok(too_late(&context, run.id, &Error::NotScheduled(run.state))),
    };
    let at = moment(&mut form, "at", context.zone);
    if at.is_none() && form.is_valid() {
        form.add_error("at", "Choose the time.");
    }
    if let Some(at) = at.filter(|_| form.is_valid() && !form.is("step", "preview")) {
        match state.engine.runs().move_scheduled(run.id, at, &by.0).await {
            Err(why @ Error::NotScheduled(_)) => return Ok(too_late(&context, run.id, &why)),
            moved => {
                if form.accept(moved)?.is_some() {
                    return Ok(done(&address(&run), context.t("scheduled-moved")));
                }
            }
        }
    }
    let status = form.status();
    Ok(render(&MovePage { context, run, form }, status))
}
