//! `/reports`: what runs came to.

use actix_web::web::Json;
use carillon_store::report::read::ReportGroup;

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Caller, Query};
use crate::web::api::reports::view::ReportView;
use crate::web::reports::{self, Question, ReportSort};
pub use crate::web::reports::{DAYS, MAX_DAYS};
use crate::web::state::Shared;

pub const LIMIT: u32 = 100;
pub const MAX_LIMIT: u32 = 10_000;

fn group(word: &str) -> Option<ReportGroup> {
    match word {
        "day" => Some(ReportGroup::Day),
        "app" => Some(ReportGroup::App),
        "job" => Some(ReportGroup::Job),
        _ => None,
    }
}

pub async fn report(state: Shared, caller: Caller, query: Query) -> Answer<ReportView> {
    let question = Question {
        days: query.number("days", DAYS, MAX_DAYS)?,
        group: query.parsed("group", "`day`, `app` or `job`", group)?.unwrap_or_default(),
        app: query.text("app")?,
        job_id: query.id("job_id")?,
        sort: query.parsed("sort", &format!("one of {}", ReportSort::WORDS.join(", ")), ReportSort::from_word)?,
    };
    let limit = query.number("limit", LIMIT, MAX_LIMIT)?;
    let now = state.clock.now();
    let found = reports::answer(&state.store, caller.visible(), &question, now).await?;
    let report = found.map_err(|(field, message)| Error::field(field, message))?;
    Ok(Json(ReportView::new(report, &question, state.store.report_day(now), limit as usize)))
}
