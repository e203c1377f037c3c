//! `/reports`: what runs came to.

use actix_web::web::Json;
use carillon_store::report::read::{Report, ReportGroup, ReportLine};
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::{Answer, Error};
use super::extract::{Caller, Query};
use crate::web::reports::{self, Question, ReportSort, day_text};
pub use crate::web::reports::{DAYS, MAX_DAYS};
use crate::web::state::Shared;

/// What runs came to. A run counts on the day of its instant, some minutes after its end; each attempt of a retry is a run
#[derive(Serialize, ToSchema)]
#[schema(as = Report)]
pub struct ReportView {
    /// The first day
    #[schema(examples("2025-07-01"))]
    from: String,
    /// The last day, which is today
    #[schema(examples("2025-07-31"))]
    to: String,
    /// All lines together, also those beyond `limit`
    total: ReportNumbers,
    items: Vec<ReportLineView>,
    /// There are more lines than `limit`
    more: bool,
}

/// The runs of a day, an app or a job
#[derive(Serialize, ToSchema)]
#[schema(as = ReportLine)]
struct ReportLineView {
    /// The day, if the report is by day
    #[schema(examples("2025-07-31"))]
    day: Option<String>,
    /// The id of the app or the job, if the report is by one of these
    id: Option<i64>,
    /// Null of a day, and of what is deleted
    name: Option<String>,
    #[serde(flatten)]
    numbers: ReportNumbers,
}

#[derive(Serialize, ToSchema)]
struct ReportNumbers {
    /// Runs that have ended or whose outcome is not known: the sum of the next five
    runs: i64,
    succeeded: i64,
    failed: i64,
    killed: i64,
    /// Never sent
    cancelled: i64,
    /// Sent, and their outcome is not known: `unknown` and `lost`
    doubtful: i64,
    /// Succeeded ones of those that were not cancelled, from 0 to 1. Null: there are none
    success_rate: Option<f64>,
    /// Half of the runs took at most this long, from the request to the end, in milliseconds; within 6 %. Null: none of them ran
    duration_p50_ms: Option<i64>,
    /// 95 % of the runs took at most this long
    duration_p95_ms: Option<i64>,
    /// Half of the runs were sent at most this long after they were due, in milliseconds. Null: none of them was sent
    lateness_p50_ms: Option<i64>,
    /// 95 % of the runs were sent at most this long after they were due
    lateness_p95_ms: Option<i64>,
}

impl From<&ReportLine> for ReportNumbers {
    fn from(line: &ReportLine) -> Self {
        let counts = line.counts;
        Self {
            runs: counts.all(),
            succeeded: counts.succeeded,
            failed: counts.failed,
            killed: counts.killed,
            cancelled: counts.cancelled,
            doubtful: counts.doubtful,
            success_rate: counts.success_rate(),
            duration_p50_ms: line.duration_p50,
            duration_p95_ms: line.duration_p95,
            lateness_p50_ms: line.lateness_p50,
            lateness_p95_ms: line.lateness_p95,
        }
    }
}

impl ReportView {
    pub fn new(report: Report, question: &Question, today: i32, limit: usize) -> Self {
        let (from, to) = question.range(today);
        let is_day = question.group == ReportGroup::Day;
        let line = |line: &ReportLine| ReportLineView {
            day: is_day.then(|| day_text(line.key)),
            id: (!is_day).then_some(line.key),
            name: line.name.clone(),
            numbers: ReportNumbers::from(line),
        };
        Self {
            from: day_text(from.into()),
            to: day_text(to.into()),
            total: ReportNumbers::from(&report.total),
            items: report.lines.iter().take(limit).map(line).collect(),
            more: report.lines.len() > limit,
        }
    }
}

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
