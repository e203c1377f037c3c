//! What a report is asked for.

use carillon_scheduler::Millis;
use carillon_store::report::read::{MOST_LINES, Report, ReportFilter, ReportGroup};
use carillon_store::report::summarize;
use carillon_store::{Store, VisibleApps};
use chrono::{Days, NaiveDate};

use crate::web::reports::sort::ReportSort;

/// Days of a report: if not given, and at most.
pub const DAYS: u32 = 30;
pub const MAX_DAYS: u32 = summarize::DAYS as u32;

/// A question whose words are known.
#[derive(Clone, Debug)]
pub struct Question {
    /// Up to and including today.
    pub days: u32,
    pub group: ReportGroup,
    pub app: Option<String>,
    pub job_id: Option<i64>,
    /// None: as is usual for the group.
    pub sort: Option<ReportSort>,
}

/// The parameter, and what is wrong with it.
pub type Wrong = (&'static str, String);

/// `2026-11-21`, of a day since 1970-01-01.
pub fn day_text(day: i64) -> String {
    let day = u64::try_from(day).unwrap_or(0);
    NaiveDate::default().checked_add_days(Days::new(day)).unwrap_or(NaiveDate::MAX).to_string()
}

impl Question {
    /// The first and the last day.
    pub fn range(&self, today: i32) -> (i32, i32) {
        (today - i32::try_from(self.days).unwrap_or(1) + 1, today)
    }
}

/// The sorted report of what is visible. An app that is not visible does not exist.
///
/// # Errors
/// The database could not be asked. Inside: the parameter that cannot be used.
pub async fn answer(
    store: &Store,
    visible: VisibleApps,
    question: &Question,
    now: Millis,
) -> carillon_store::Result<Result<Report, Wrong>> {
    let mut app_id = None;
    if let Some(name) = &question.app {
        let apps = store.apps().list(&visible).await?;
        let Some(app) = apps.iter().find(|app| app.name == *name) else {
            return Ok(Err(("app", format!("there is no app “{name:.64}”"))));
        };
        app_id = Some(app.id);
    }
    let (from_day, to_day) = question.range(store.report_day(now));
    let filter = ReportFilter { apps: visible, app_id, job_id: question.job_id, from_day, to_day };
    let Some(mut report) = store.reports().read(&filter, question.group).await? else {
        let message =
            format!("the report would add up more than {MOST_LINES} days of jobs; choose an app or fewer days");
        return Ok(Err(("days", message)));
    };
    let sort = question.sort.unwrap_or(ReportSort::default_of(question.group));
    sort.sort(&mut report.lines, question.group);
    Ok(Ok(report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_today() {
        assert_eq!((day_text(0), day_text(20_413)), ("1970-01-01".to_owned(), "2025-11-21".to_owned()));
        let question = Question { days: 7, group: ReportGroup::Day, app: None, job_id: None, sort: None };
        assert_eq!(question.range(20_413), (20_407, 20_413));
    }
}
