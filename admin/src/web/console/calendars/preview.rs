//! What a calendar excludes in the next year, and what a change of it means for the jobs that use it.

use std::sync::Arc;

use carillon_inspect::preview::{self as inspect, CalendarChange};
use carillon_scheduler::Calendar;
use carillon_scheduler::calendar::is_excluded;
use carillon_store::{Job, JobFilter, Store};
use chrono::{Days, NaiveDate};

use crate::web::locale::Language;
use crate::web::page::{PageContext, PageError};
use crate::web::text::names::day_text;

/// Days that are looked at, and that are named.
const YEAR: u64 = 365;
const NAMED: usize = 12;
/// Jobs for which the effect is worked out.
const JOBS: u32 = 20;

/// The preview of a calendar.
pub struct CalendarPreview {
    /// Excluded days within a year, and the first of them.
    pub excluded: usize,
    pub next: Vec<String>,
    /// Jobs that use it, newest first.
    pub jobs: Vec<JobChange>,
    /// There are further jobs.
    pub is_cut: bool,
}

/// The effect on a job.
pub struct JobChange {
    pub id: i64,
    pub name: String,
    pub app: String,
    pub effect: String,
}

/// `is_used`: jobs may use a calendar of this name already.
pub async fn preview(
    store: &Store,
    context: &PageContext,
    calendar: Calendar,
    is_used: bool,
) -> Result<CalendarPreview, PageError> {
    let calendar = Arc::new(calendar);
    let all = [calendar.clone()];
    let today = inspect::local(context.now, context.zone).date_naive();
    let year = (0..YEAR).filter_map(|days| today.checked_add_days(Days::new(days)));
    let days: Vec<NaiveDate> = year.filter(|day| is_excluded(&all, *day)).collect();
    let (jobs, is_cut) = match is_used {
        true => jobs_of(store, context, &calendar.name, JOBS).await?,
        false => (vec![], false),
    };
    let change = |job: Job| JobChange {
        effect: match inspect::calendar_change(&job, &calendar, context.now) {
            Ok(change) => effect(context.language, &change),
            Err(error) => context.t("calendar-cannot-plan").with("why", context.say(&error.message)).to_string(),
        },
        id: job.id,
        name: job.draft.name,
        app: job.draft.app,
    };
    Ok(CalendarPreview {
        excluded: days.len(),
        next: day_texts(context.language, &days),
        jobs: jobs.into_iter().map(change).collect(),
        is_cut,
    })
}

/// The jobs of a calendar that the viewer may see, newest first, and whether there are more.
pub async fn jobs_of(
    store: &Store,
    context: &PageContext,
    name: &str,
    limit: u32,
) -> Result<(Vec<Job>, bool), PageError> {
    let filter = JobFilter { apps: context.visible(), calendar: Some(name.to_owned()), limit, ..JobFilter::default() };
    let page = store.jobs().list(&filter).await?;
    Ok((page.items, page.next.is_some()))
}

/// `newly excluded: Thu 2026-12-24; fires again: Mon 2026-12-28`
fn effect(language: Language, change: &CalendarChange) -> String {
    let named = |key, days: &[NaiveDate]| {
        let mut names = day_texts(language, days);
        if days.len() > NAMED {
            names.push(language.text("and-more").count("count", days.len() - NAMED).to_string());
        }
        (!days.is_empty()).then(|| language.text(key).with("days", names.join(", ")).to_string())
    };
    let parts = [named("calendar-newly-excluded", &change.excluded), named("calendar-fires-again", &change.restored)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => language.text("calendar-no-change").to_string(),
        false => parts.join("; "),
    }
}

/// The first of the days.
fn day_texts(language: Language, days: &[NaiveDate]) -> Vec<String> {
    days.iter().take(NAMED).map(|day| day_text(language, *day)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_names_the_first_days() {
        let days = |all: &[&str]| all.iter().map(|day| day.parse().unwrap()).collect::<Vec<NaiveDate>>();
        let change = |excluded: &[&str], restored: &[&str]| CalendarChange {
            excluded: days(excluded),
            restored: days(restored),
        };
        let effect = |change: &CalendarChange| effect(Language::English, change);
        assert_eq!(effect(&change(&[], &[])), "no change");
        let both = change(&["2026-12-24"], &["2026-12-28"]);
        assert_eq!(effect(&both), "newly excluded: Thu 2026-12-24; fires again: Mon 2026-12-28");
        let many = CalendarChange { excluded: vec!["2026-12-24".parse().unwrap(); 15], restored: vec![] };
        assert!(effect(&many).ends_with(", and 3 more"));
    }
}
