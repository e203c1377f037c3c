//! `GET /jobs`: the list, its filters in the address.

use actix_web::web::Query;
use askama::Template;
use carillon_scheduler::Millis;
use carillon_store::{App, Job, JobFilter};

use crate::web::console::badge::{APP_PAUSED, Badge, job_badge, job_state};
use crate::web::console::bulk::BulkBar;
use crate::web::console::filters::{WrongFilters, render_list};
use crate::web::console::jobs::bulk::ACTIONS;
use crate::web::console::jobs::query::{ListQuery, RESULT_GROUPS, SORTS};
use crate::web::console::jobs::recent_runs::{RUNS_SHOWN, RecentRunStrip};
use crate::web::page::{PageContext, PagePlace, PageResult, Pager};
use crate::web::state::Shared;
use crate::web::text::schedule::{KINDS, ScheduleText, schedule_text};

const PAGE: u32 = 50;
/// A count stops here: "10,000+".
const COUNTED: u32 = 10_000;
/// Tags and owners to choose from.
const CHOICES: u32 = 200;

struct JobRow {
    job: Job,
    badge: Badge,
    state: &'static str,
    /// The next fire that is sent. None: there is none, or it is not known.
    next: Option<Millis>,
    schedule: ScheduleText,
    strip: RecentRunStrip,
}

#[derive(Template)]
#[template(path = "jobs/list.html")]
struct Page {
    context: PageContext,
    query: ListQuery,
    wrong: WrongFilters,
    kinds: [(&'static str, &'static str); 7],
    apps: Vec<App>,
    tags: Vec<String>,
    owners: Vec<String>,
    rows: Vec<JobRow>,
    count: String,
    pager: Pager,
}

impl Page {
    fn sorts(&self) -> [(&'static str, &'static str); 4] {
        SORTS
    }

    fn results(&self) -> [(&'static str, &'static str); 4] {
        RESULT_GROUPS
    }

    /// None: the viewer may do nothing with a job of the page.
    fn bulk(&self) -> Option<BulkBar> {
        let may_edit = self.rows.iter().any(|row| self.context.may_edit(&row.job.app_id));
        let actions = ACTIONS.iter().filter(|(.., needs_editor)| may_edit || !needs_editor);
        let is_offered = self.rows.iter().any(|row| self.context.may_operate(&row.job.app_id));
        is_offered.then(|| BulkBar {
            action: "/jobs/bulk",
            all: self.context.t("bulk-all-count").with("count", &self.count).to_string(),
            actions: actions.map(|(word, label, ..)| (*word, *label)).collect(),
        })
    }
}

pub async fn list(state: Shared, context: PageContext, query: Query<ListQuery>, place: Query<PagePlace>) -> PageResult {
    let query = query.into_inner();
    let (filter, wrong) = query.filter(&state, &context).await?;
    let filter = JobFilter { limit: PAGE, ..filter };
    let (mut jobs, next, count) = match wrong.is_empty() {
        true => {
            let found = state.store.jobs().counted(&filter, COUNTED).await?;
            let count = counted(&context, found.count, found.is_cut);
            (found.page.items, found.page.next, count)
        }
        false => (vec![], None, counted(&context, 0, false)),
    };
    state.store.jobs().show_next_fires(&mut jobs, context.now).await?;
    let ids: Vec<i64> = jobs.iter().map(|job| job.id).collect();
    let marks = state.store.runs().latest(&ids, RUNS_SHOWN as i64, &context.visible()).await?;
    let row = |job: Job| JobRow {
        badge: match context.pause_of(job.app_id) {
            Some(_) if job.draft.enabled => APP_PAUSED,
            _ => job_badge(&job),
        },
        next: next_fire(&context, &job),
        state: job_state(&job),
        schedule: schedule_text(context.language, &job.draft.schedule),
        strip: RecentRunStrip::new(context.language, marks.get(&job.id)),
        job,
    };
    let rows = jobs.into_iter().map(row).collect();
    let page = Page {
        context,
        wrong,
        kinds: KINDS,
        apps: state.store.apps().list(&filter.apps).await?,
        tags: state.store.jobs().tags_in_use(&filter.apps, CHOICES).await?,
        owners: state.store.jobs().owners_in_use(&filter.apps, CHOICES).await?,
        rows,
        count,
        pager: Pager::new(&query.address(None), &place, next),
        query,
    };
    Ok(render_list(&page, !page.wrong.is_empty()))
}

/// One that will be cancelled, as its app is paused then, is left out.
fn next_fire(context: &PageContext, job: &Job) -> Option<Millis> {
    let pause = context.pause_of(job.app_id);
    job.next_fire_at.filter(|at| pause.is_none_or(|pause| pause.ends_at.is_some_and(|end| *at >= end)))
}

fn counted(context: &PageContext, count: u32, is_cut: bool) -> String {
    let text = match (count, is_cut) {
        (COUNTED.., _) => context.t("jobs-count-cut").with("count", "10,000"),
        (_, true) => context.t("jobs-count-cut").with("count", count),
        _ => context.t("jobs-count").count("count", count),
    };
    text.to_string()
}
