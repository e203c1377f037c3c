//! `GET /runs`: the list, its filters in the address.

use std::collections::BTreeSet;

use actix_web::web::Query;
use askama::Template;
use carillon_scheduler::{Cause, RunState};
use carillon_store::{App, Job, RunFilter, RunSort, RunView};

use crate::web::console::badge::run_badge;
use crate::web::console::bulk::BulkBar;
use crate::web::console::filters::{WrongFilters, read_rows, render_list};
use crate::web::console::runs::audit_trail::name_deleted_jobs;
use crate::web::console::runs::bulk::ACTIONS;
use crate::web::console::runs::query::{ListQuery, SORTS};
use crate::web::console::runs::row::RunRow;
use crate::web::forms::child_jobs;
use crate::web::locale::{Message, grouped};
use crate::web::page::{PageContext, PagePlace, PageResult, Pager};
use crate::web::state::Shared;
use crate::web::text::names::cause_text;

const PAGE: u32 = 50;
/// Tags to choose from.
const CHOICES: u32 = 200;

#[derive(Template)]
#[template(path = "runs/list.html")]
struct Page {
    context: PageContext,
    query: ListQuery,
    wrong: WrongFilters,
    apps: Vec<App>,
    tags: Vec<String>,
    /// Runs that one page looks at.
    searched: String,
    is_sorted: bool,
    /// The job that the list is about.
    job: Option<Job>,
    rows: Vec<RunRow>,
    states: &'static [RunState],
    causes: &'static [Cause],
    pager: Pager,
    /// There may be older matches that were not searched.
    further: Option<String>,
}

pub async fn list(state: Shared, context: PageContext, query: Query<ListQuery>, place: Query<PagePlace>) -> PageResult {
    let mut query = query.into_inner();
    query.job = child_jobs::with_id(&state.store, &query.app, &query.job, &context.visible()).await?;
    let (filter, wrong) = query.filter(&state, &context).await?;
    let filter = RunFilter { limit: PAGE, ..filter };
    let (runs, next) = read_rows(&wrong, state.store.runs().list(&filter)).await?;
    let job = match filter.job_id {
        Some(id) => state.store.jobs().get(id).await?.filter(|job| context.may_see(&job.app_id)),
        None => None,
    };
    let (next, further) = match runs.len() < PAGE as usize && filter.sort == RunSort::Id {
        true => (None, next),
        false => (next, None),
    };
    let apps = state.store.apps().list(&filter.apps).await?;
    let operated: BTreeSet<&str> =
        apps.iter().filter(|app| context.may_operate(&app.id)).map(|app| app.name.as_str()).collect();
    let row = |run: RunView| RunRow { has_box: operated.contains(run.app.as_str()), ..RunRow::new(&context, run) };
    let mut rows: Vec<RunRow> = runs.into_iter().map(row).collect();
    name_deleted_jobs(&state, &mut rows).await?;
    let page = Page {
        rows,
        context,
        wrong,
        apps,
        tags: state.store.jobs().tags_in_use(&filter.apps, CHOICES).await?,
        searched: grouped(filter.searched_ids()),
        is_sorted: filter.sort != RunSort::Id,
        job,
        states: RunState::ALL,
        causes: Cause::ALL,
        further: further.and_then(|after| Pager::new(&query.address(None), &place, Some(after)).next),
        pager: Pager::new(&query.address(None), &place, next),
        query,
    };
    Ok(render_list(&page, !page.wrong.is_empty()))
}

impl Page {
    /// None: the viewer may do nothing with runs of any app.
    fn bulk(&self) -> Option<BulkBar> {
        let is_offered = self.apps.iter().any(|app| self.context.may_operate(&app.id));
        is_offered.then(|| BulkBar {
            action: "/runs/bulk",
            all: self.context.t("bulk-all").to_string(),
            actions: ACTIONS.to_vec(),
        })
    }

    fn sorts(&self) -> [(&'static str, &'static str); 4] {
        SORTS
    }

    fn word(&self, state: &RunState) -> Message {
        self.context.t(run_badge(*state).word)
    }

    fn cause(&self, cause: &Cause) -> Message {
        cause_text(self.context.language, *cause)
    }
}
