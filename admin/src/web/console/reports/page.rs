//! `GET /reports`

use actix_web::http::StatusCode;
use actix_web::web::Query;
use askama::Template;
use carillon_scheduler::Millis;
use carillon_store::App;
use carillon_store::report::read::{Report, ReportGroup, ReportLine};

use crate::web::console::reports::query::ReportQuery;
use crate::web::forms::child_jobs;
use crate::web::page::{PageContext, PageResult, render};
use crate::web::reports::{self, Question, ReportSort, day_text};
use crate::web::state::Shared;
use crate::web::text::format::duration;

/// Lines of a page; the file has all.
const MOST: usize = 200;
/// Periods that can be chosen, with the keys of their names.
const PERIODS: [(u32, &str); 4] = [(1, "period-today"), (7, "period-7d"), (30, "period-30d"), (90, "period-90d")];
/// The columns that a page can be sorted by, with the keys of their labels.
const COLUMNS: [(&str, &str); 6] = [
    ("runs", "report-runs"),
    ("success", "report-success"),
    ("failed", "failed-or-lost"),
    ("killed", "report-killed"),
    ("duration", "report-duration"),
    ("lateness", "report-lateness"),
];

#[derive(Template)]
#[template(path = "reports.html")]
struct Page {
    context: PageContext,
    query: ReportQuery,
    question: Question,
    wrong: Vec<(&'static str, String)>,
    apps: Vec<App>,
    report: Option<Report>,
    periods: [(u32, &'static str); 4],
    columns: [(&'static str, &'static str); 6],
    from: String,
    to: String,
    /// The zone whose days are counted.
    zone: &'static str,
}

impl Page {
    /// The word of the group, and the key of its label.
    fn group(&self) -> &'static str {
        match self.question.group {
            ReportGroup::Day => "day",
            ReportGroup::App => "app",
            ReportGroup::Job => "job",
        }
    }

    fn sort(&self) -> &'static str {
        self.question.sort.unwrap_or(ReportSort::default_of(self.question.group)).as_str()
    }

    fn shown<'a>(&self, report: &'a Report) -> &'a [ReportLine] {
        &report.lines[..report.lines.len().min(MOST)]
    }

    /// The page of what a line is about.
    fn link(&self, line: &ReportLine) -> Option<String> {
        let name = line.name.as_deref()?;
        match self.question.group {
            ReportGroup::Day => None,
            ReportGroup::App => Some(self.query.of("app", name)),
            ReportGroup::Job => Some(self.query.of("job", &line.key.to_string())),
        }
    }

    fn name(&self, line: &ReportLine) -> String {
        match self.question.group {
            ReportGroup::Day => day_text(line.key),
            ReportGroup::App => line.name.clone().unwrap_or_else(|| self.deleted("deleted-app", line)),
            ReportGroup::Job => line.name.clone().unwrap_or_else(|| self.deleted("deleted-job", line)),
        }
    }

    fn deleted(&self, key: &'static str, line: &ReportLine) -> String {
        self.context.t(key).with("id", line.key).to_string()
    }

    fn rate(&self, line: &ReportLine) -> String {
        rate(line)
    }

    fn times(&self, p50: &Option<Millis>, p95: &Option<Millis>) -> String {
        match (p50, p95) {
            (Some(p50), Some(p95)) => {
                let [p50, p95] = [*p50, *p95].map(|it| duration(self.context.language, it));
                format!("{p50} / {p95}")
            }
            _ => "–".to_owned(),
        }
    }
}

/// Never rounded up to 100 %.
fn rate(line: &ReportLine) -> String {
    let counts = line.counts;
    match counts.attempted() {
        0 => "–".to_owned(),
        all if counts.succeeded == all => "100 %".to_owned(),
        all => format!("{}.{} %", counts.succeeded * 1000 / all / 10, counts.succeeded * 1000 / all % 10),
    }
}

pub async fn page(state: Shared, context: PageContext, query: Query<ReportQuery>) -> PageResult {
    let mut query = query.into_inner();
    query.job = child_jobs::with_id(&state.store, &query.app, &query.job, &context.visible()).await?;
    let (question, mut wrong) = query.question();
    let mut report = None;
    if wrong.is_empty() {
        match reports::answer(&state.store, context.visible(), &question, context.now).await? {
            Ok(found) => report = Some(found),
            Err((field, message)) => wrong.push((if field == "app" { "app" } else { "period" }, message)),
        }
    }
    let (from, to) = question.range(state.store.report_day(context.now));
    let status = if wrong.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let page = Page {
        apps: state.store.apps().list(&context.visible()).await?,
        context,
        query,
        question,
        wrong,
        report,
        periods: PERIODS,
        columns: COLUMNS,
        from: day_text(from.into()),
        to: day_text(to.into()),
        zone: state.store.report_zone().name(),
    };
    Ok(render(&page, status))
}

#[cfg(test)]
mod tests {
    use carillon_store::report::counts::Counts;

    use super::*;

    #[test]
    fn a_single_failure_is_not_rounded_away() {
        let shown = |succeeded, failed| {
            let counts = Counts { succeeded, failed, ..Counts::default() };
            let times = [None; 4];
            rate(&ReportLine {
                key: 1,
                name: None,
                counts,
                duration_p50: times[0],
                duration_p95: times[1],
                lateness_p50: times[2],
                lateness_p95: times[3],
            })
        };
        assert_eq!(shown(0, 0), "–");
        assert_eq!((shown(9, 0), shown(99_999, 1), shown(1, 2)), ("100 %".into(), "99.9 %".into(), "33.3 %".into()));
    }
}
