//! `GET /gaps`: the gap audit of some jobs. It is bounded in jobs, instants and time; the next page goes on where it stopped.

use std::time::{Duration, Instant};

use actix_web::web::Query;
use askama::Template;
use carillon_inspect::audit::{Difference, audit_job};
use carillon_scheduler::Millis;
use carillon_store::JobFilter;
use serde::Deserialize;

use crate::web::console::filters::{WrongFilters, render_list};
use crate::web::forms::child_jobs;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageError, PagePlace, PageResult, Pager, list_address};
use crate::web::state::{Shared, State};

/// Spans that can be chosen, in h.
const SPANS: [u32; 3] = [1, 24, 168];
const HOUR: Millis = 3_600_000;
/// Jobs of one page, instants of one job, and differences that are listed.
const JOBS: u32 = 100;
/// A count stops here.
const COUNTED: u32 = 10_000;
const INSTANTS: usize = 20_000;
const LISTED: usize = 500;
/// Where the time is up, the page ends with the job that was looked at last.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AuditQuery {
    job: String,
    hours: u32,
    after: Option<i64>,
}

/// A difference, and the job that has it.
struct Row {
    job: String,
    difference: Difference,
}

#[derive(Default)]
struct Audit {
    jobs: usize,
    rows: Vec<Row>,
    unexplained: u64,
    /// Jobs that fire so often that not all of the span was looked at.
    cut: Vec<String>,
    /// All that the filter names.
    all: u32,
    /// The last job that was looked at, if there are more.
    next: Option<i64>,
}

#[derive(Template)]
#[template(path = "operations/gaps.html")]
struct Page {
    context: PageContext,
    query: AuditQuery,
    hours: u32,
    spans: [u32; 3],
    wrong: WrongFilters,
    audit: Audit,
    pager: Pager,
}

impl Page {
    fn address(query: &AuditQuery, hours: u32) -> String {
        list_address("/gaps", &[("job", query.job.trim()), ("hours", &hours.to_string())], None)
    }

    /// What the heading says where no difference was found: of which jobs it is true.
    fn none_found(&self) -> Message {
        let of = |key| self.context.t(key).with("count", self.audit.jobs).with("all", self.audit.all);
        match (self.pager.next.is_some(), self.pager.is_behind_first()) {
            (false, false) => self.context.t("gaps-none"),
            (_, false) => of("gaps-none-first"),
            (_, true) => of("gaps-none-part"),
        }
    }

    fn why(&self, row: &Row) -> Message {
        row.difference.reason.text(self.context.language)
    }
}

/// `GET /gaps`
pub async fn page(
    state: Shared,
    context: PageContext,
    query: Query<AuditQuery>,
    place: Query<PagePlace>,
) -> PageResult {
    let query = query.into_inner();
    let hours = SPANS.into_iter().find(|hours| *hours == query.hours).unwrap_or(24);
    let (mut ids, mut wrong) = (vec![], vec![]);
    if !query.job.trim().is_empty() {
        match child_jobs::filtered(&state.store, "", query.job.trim(), &context.visible()).await? {
            Ok(id) => ids.push(id),
            Err(message) => wrong.push(("job", message)),
        }
    }
    let filter = JobFilter { apps: context.visible(), ids, after: query.after, limit: JOBS, ..JobFilter::default() };
    let audit = match wrong.is_empty() {
        true => {
            let _place = state.engine.costly.enter(&context.actor).await?;
            audit(&state, &filter, context.now - i64::from(hours) * HOUR, context.now).await?
        }
        false => Audit::default(),
    };
    let page = Page {
        pager: Pager::new(&Page::address(&query, hours), &place, audit.next),
        context,
        query,
        hours,
        spans: SPANS,
        wrong,
        audit,
    };
    Ok(render_list(&page, !page.wrong.is_empty()))
}

async fn audit(state: &State, filter: &JobFilter, from: Millis, to: Millis) -> Result<Audit, PageError> {
    let found = state.store.jobs().list(filter).await?;
    let mut audit = Audit::default();
    let end = Instant::now() + PATIENCE;
    let mut ids = found.items.into_iter().map(|job| job.id);
    for id in ids.by_ref() {
        // None: it has been deleted meanwhile.
        if let Some(looked) = audit_job(&state.store, id, from, to, INSTANTS).await? {
            audit.jobs += 1;
            if looked.reached < to {
                audit.cut.push(looked.name.clone());
            }
            for difference in looked.differences {
                audit.unexplained += if difference.is_explained() { 0 } else { u64::from(difference.count) };
                audit.rows.push(Row { job: looked.name.clone(), difference });
            }
        }
        if Instant::now() >= end || audit.rows.len() >= LISTED {
            audit.next = Some(id);
            break;
        }
    }
    audit.all = state.store.jobs().count(&JobFilter { after: None, ..filter.clone() }, COUNTED).await?;
    audit.next = match ids.next() {
        Some(_) => audit.next,
        None => found.next,
    };
    Ok(audit)
}
