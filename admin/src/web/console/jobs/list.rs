//! `GET /jobs`: the list, its filters in the address.

use actix_web::http::StatusCode;
use actix_web::web;
use askama::Template;
use carillon_scheduler::KindDraft;
use carillon_store::{App, Job, JobFilter, VisibleApps};
use serde::Deserialize;

use crate::web::console::badge::{Badge, job_badge, job_state};
use crate::web::console::jobs::recent_runs::{RUNS_SHOWN, RecentRunStrip};
use crate::web::page::{PageContext, PageResult, list_address, render};
use crate::web::state::Shared;
use crate::web::text::schedule::{KINDS, ScheduleText, schedule_text};

const PAGE: u32 = 50;
/// A count stops here: "10,000+".
const COUNTED: u32 = 10_000;

/// The filters as they stand in the address.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    text: String,
    app: String,
    /// `enabled` or `paused`.
    state: String,
    kind: String,
    after: Option<i64>,
}

impl ListQuery {
    fn filter(&self, apps: VisibleApps) -> JobFilter {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        JobFilter {
            apps,
            text: given(self.text.trim()),
            app: given(&self.app),
            enabled: match self.state.as_str() {
                "enabled" => Some(true),
                "paused" => Some(false),
                _ => None,
            },
            kind: given(&self.kind),
            after: self.after,
            limit: PAGE,
            ..JobFilter::default()
        }
    }

    /// Errors: the field's label and the reason.
    fn wrong(&self) -> Vec<(&'static str, String)> {
        let mut wrong = vec![];
        if !["", "enabled", "paused"].contains(&self.state.as_str()) {
            let text = format!("“{}” is no state of a job", self.state);
            wrong.push(("State", text));
        }
        if !self.kind.is_empty() && !KindDraft::WORDS.contains(&self.kind.as_str()) {
            let text = format!("“{}” is no kind of schedule", self.kind);
            wrong.push(("Schedule", text));
        }
        wrong
    }

    fn pairs(&self) -> [(&'static str, &str); 4] {
        [("text", &self.text), ("app", &self.app), ("state", &self.state), ("kind", &self.kind)]
    }

    fn is_filtered(&self) -> bool {
        self.pairs().iter().any(|(_, value)| !value.is_empty())
    }

    fn address(&self, after: Option<i64>) -> String {
        list_address("/jobs", &self.pairs(), after)
    }
}

struct JobRow {
    job: Job,
    badge: Badge,
    state: &'static str,
    schedule: ScheduleText,
    strip: RecentRunStrip,
}

#[derive(Template)]
#[template(path = "jobs/list.html")]
struct Page {
    context: PageContext,
    query: ListQuery,
    wrong: Vec<(&'static str, String)>,
    kinds: [(&'static str, &'static str); 7],
    apps: Vec<App>,
    rows: Vec<JobRow>,
    count: String,
    first: Option<String>,
    next: Option<String>,
}

pub async fn list(state: Shared, context: PageContext, query: web::Query<ListQuery>) -> PageResult {
    let query = query.into_inner();
    let wrong = query.wrong();
    let filter = query.filter(context.visible());
    let (mut jobs, next, count) = match wrong.is_empty() {
        true => {
            let found = state.store.counted_jobs(&filter, COUNTED).await?;
            let count = counted(found.count, found.is_cut);
            (found.page.items, found.page.next, count)
        }
        false => (vec![], None, counted(0, false)),
    };
    state.store.show_next_fires(&mut jobs, context.now).await?;
    let ids: Vec<i64> = jobs.iter().map(|job| job.id).collect();
    let marks = state.store.latest_runs(&ids, RUNS_SHOWN as i64).await?;
    let rows = jobs.into_iter().map(|job| JobRow {
        badge: job_badge(&job),
        state: job_state(&job),
        schedule: schedule_text(&job.draft.schedule),
        strip: RecentRunStrip::new(marks.get(&job.id)),
        job,
    });
    let status = match wrong.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let page = Page {
        context,
        wrong,
        kinds: KINDS,
        apps: state.store.apps(&filter.apps).await?,
        rows: rows.collect(),
        count,
        first: query.after.map(|_| query.address(None)),
        next: next.map(|after| query.address(Some(after))),
        query,
    };
    Ok(render(&page, status))
}

fn counted(count: u32, is_cut: bool) -> String {
    match (count, is_cut) {
        (COUNTED.., _) => "10,000+ jobs".to_owned(),
        (_, true) => format!("{count}+ jobs"),
        (1, _) => "1 job".to_owned(),
        _ => format!("{count} jobs"),
    }
}
