//! `GET /reports/export`: the lines of a report as a CSV file.

use actix_web::HttpResponse;
use actix_web::web::Query;
use carillon_scheduler::Millis;
use carillon_store::report::read::{ReportGroup, ReportLine};
use serde::Deserialize;

use crate::web::console::reports::query::ReportQuery;
use crate::web::csv::{head, line};
use crate::web::forms::child_jobs;
use crate::web::page::{PageContext, PageError, PageResult};
use crate::web::reports::{self, day_text};
use crate::web::state::Shared;

const COLUMNS: [&str; 13] = [
    "id",
    "name",
    "runs",
    "succeeded",
    "failed",
    "killed",
    "cancelled",
    "doubtful",
    "success_rate",
    "duration_p50_ms",
    "duration_p95_ms",
    "lateness_p50_ms",
    "lateness_p95_ms",
];

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct FileQuery {
    /// The file begins with a byte order mark.
    bom: bool,
}

pub async fn export(
    state: Shared,
    context: PageContext,
    query: Query<ReportQuery>,
    file: Query<FileQuery>,
) -> PageResult {
    let mut query = query.into_inner();
    query.job = child_jobs::with_id(&state.store, &query.app, &query.job, &context.visible()).await?;
    let (question, wrong) = query.question();
    if let Some((label, message)) = wrong.into_iter().next() {
        return Err(PageError::Bad(context.fault(context.t(label), &message).to_string()));
    }
    let found = reports::answer(&state.store, context.visible(), &question, context.now).await?;
    let report = found.map_err(|(field, message)| PageError::Bad(format!("{field}: {message}")))?;
    let is_day = question.group == ReportGroup::Day;
    let mut text = head(COLUMNS, file.bom);
    for found in &report.lines {
        text.push_str(&line(cells(found, is_day)));
    }
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header(("content-disposition", "attachment; filename=\"report.csv\""))
        .body(text))
}

fn cells(line: &ReportLine, is_day: bool) -> [String; 13] {
    let counts = line.counts;
    let number = |number: Option<Millis>| number.map_or_else(String::new, |number| number.to_string());
    [
        if is_day { day_text(line.key) } else { line.key.to_string() },
        line.name.clone().unwrap_or_default(),
        counts.all().to_string(),
        counts.succeeded.to_string(),
        counts.failed.to_string(),
        counts.killed.to_string(),
        counts.cancelled.to_string(),
        counts.doubtful.to_string(),
        counts.success_rate().map_or_else(String::new, |rate| format!("{rate:.6}")),
        number(line.duration_p50),
        number(line.duration_p95),
        number(line.lateness_p50),
        number(line.lateness_p95),
    ]
}
