//! What a calendar excludes in the next year, and what a change of it means for the jobs that use it.

use std::sync::Arc;

use carillon_inspect::preview::{self as inspect, CalendarChange};
use carillon_scheduler::Calendar;
use carillon_scheduler::calendar::is_excluded;
use carillon_store::{Job, JobFilter, Store};
use chrono::{Days, NaiveDate};

use crate::web::page::{PageContext, PageError};

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
            Ok(change) => effect(&change),
            Err(error) => format!("cannot be planned: {}", error.message),
        },
        id: job.id,
        name: job.draft.name,
        app: job.draft.app,
    };
    Ok(CalendarPreview {
        excluded: days.len(),
        next: days.iter().take(NAMED).map(|day| shown(*day)).collect(),
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
    let page = store.jobs(&filter).await?;
    Ok((page.items, page.next.is_some()))
}

fn shown(day: NaiveDate) -> String {
    day.format("%a %Y-%m-%d").to_string()
}

/// `newly excluded: Thu 2026-12-24; fires again: Mon 2026-12-28`
fn effect(change: &CalendarChange) -> String {
    let named = |what: &str, days: &[NaiveDate]| {
        let mut names: Vec<String> = days.iter().take(NAMED).map(|day| shown(*day)).collect();
        if days.len() > NAMED {
            names.push(format!("and {} more", days.len() - NAMED));
        }
        (!days.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let parts = [named("newly excluded", &change.excluded), named("fires again", &change.restored)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "no change".to_owned(),
        false => parts.join("; "),
    }
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
        assert_eq!(effect(&change(&[], &[])), "no change");
        let both = change(&["2026-12-24"], &["2026-12-28"]);
        assert_eq!(effect(&both), "newly excluded: Thu 2026-12-24; fires again: Mon 2026-12-28");
        let many = CalendarChange { excluded: vec!["2026-12-24".parse().unwrap(); 15], restored: vec![] };
        assert!(effect(&many).ends_with(", and 3 more"));
    }
}
