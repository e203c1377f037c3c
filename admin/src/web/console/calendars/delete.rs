//! Deleting a calendar, after a question. One that jobs use stays.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_store::{Job, NamedCalendar};

use crate::web::access::Caller;
use crate::web::console::calendars::preview::jobs_of;
use crate::web::page::{PageContext, PageResult, done, show};
use crate::web::state::Shared;

/// Jobs that are named.
const JOBS: u32 = 20;

#[derive(Template)]
#[template(path = "calendars/delete.html")]
struct DeleteQuestion {
    context: PageContext,
    calendar: NamedCalendar,
    /// The jobs that use it, as far as the viewer sees them.
    jobs: Vec<Job>,
    is_cut: bool,
}

/// `GET /calendars/{name}/delete` asks, or names the jobs that use it.
pub async fn ask_delete(state: Shared, context: PageContext, name: Path<String>) -> PageResult {
    let calendar = state.engine.calendars().get(&name).await?;
    let (jobs, is_cut) = jobs_of(&state.store, &context, &calendar.calendar.name, JOBS).await?;
    Ok(show(&DeleteQuestion { context, calendar, jobs, is_cut }))
}

/// `POST /calendars/{name}/delete`
pub async fn delete(state: Shared, by: Caller, context: PageContext, name: Path<String>) -> PageResult {
    match state.engine.calendars().delete(&name, &by.0).await {
        Ok(()) => Ok(done("/calendars", context.t("calendar-is-deleted").with("name", name))),
        // A job has begun to use it: the question names it.
        Err(Error::InUse(_)) => ask_delete(state, context, name).await,
        Err(error) => Err(error.into()),
    }
}
