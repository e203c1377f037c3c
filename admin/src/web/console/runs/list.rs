//! `GET /runs`: the list, its filters in the address.

use actix_web::http::StatusCode;
use actix_web::web;
use askama::Template;
use carillon_scheduler::{Cause, RunState};
use carillon_store::{App, Job, RunFilter, VisibleApps};
use chrono_tz::Tz;
use serde::Deserialize;

use crate::web::console::badge::run_badge;
use crate::web::console::runs::row::RunRow;
use crate::web::page::{PageContext, PageResult, list_address, render};
use crate::web::state::Shared;
use crate::web::text::cause::cause_text;
use crate::web::text::local_time::moment;

const PAGE: u32 = 50;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    job: String,
    app: String,
    /// A state, or one of the groups `open` and `trouble`.
    state: String,
    cause: String,
    /// `2026-11-21T09:00`, in the viewer's zone.
    from: String,
    to: String,
    after: Option<i64>,
}

impl ListQuery {
    /// The filter, and its errors: the field's label and the reason.
    fn filter(&self, zone: Tz, apps: VisibleApps) -> (RunFilter, Vec<(&'static str, String)>) {
        let mut wrong = vec![];
        let mut read = |label: &'static str, text: &str, what: &str, is_read: bool| {
            if !text.trim().is_empty() && !is_read {
                wrong.push((label, format!("“{:.64}” is {what}", text.trim())));
            }
        };
        let job_id = self.job.trim().parse().ok();
        read("Job", &self.job, "no id of a job; an id is a number", job_id.is_some());
        let states = states(&self.state);
        read("State", &self.state, "no state of a run", !states.is_empty());
        let cause = self.cause.parse::<Cause>().ok();
        read("Cause", &self.cause, "no cause of a run", cause.is_some());
        let time = format!("no time that exists in {}; write it as 2026-01-31T18:30", zone.name());
        let (from, to) = (moment(&self.from, zone), moment(&self.to, zone));
        read("From", &self.from, &time, from.is_some());
        read("To", &self.to, &time, to.is_some());
        let filter = RunFilter {
            apps,
            job_id,
            app: Some(self.app.clone()).filter(|app| !app.is_empty()),
            states,
            cause,
            from,
            to,
            after: self.after,
            limit: PAGE,
        };
        (filter, wrong)
    }

    fn pairs(&self) -> [(&'static str, &str); 6] {
        [
            ("job", &self.job),
            ("app", &self.app),
            ("state", &self.state),
            ("cause", &self.cause),
            ("from", &self.from),
            ("to", &self.to),
        ]
    }

    fn is_filtered(&self) -> bool {
        self.pairs().iter().any(|(_, value)| !value.is_empty())
    }

    fn address(&self, after: Option<i64>) -> String {
        list_address("/runs", &self.pairs(), after)
    }
}

/// The states of a word of the filter.
fn states(word: &str) -> Vec<RunState> {
    match word {
        "open" => vec![RunState::Claimed, RunState::Sending, RunState::Running],
        "trouble" => vec![RunState::Failed, RunState::Lost, RunState::Unknown],
        word => word.parse().into_iter().collect(),
    }
}

#[derive(Template)]
#[template(path = "runs/list.html")]
struct Page {
    context: PageContext,
    query: ListQuery,
    wrong: Vec<(&'static str, String)>,
    apps: Vec<App>,
    /// The job that the list is about.
    job: Option<Job>,
    rows: Vec<RunRow>,
    states: &'static [RunState],
    causes: &'static [Cause],
    first: Option<String>,
    next: Option<String>,
    /// There may be older matches that were not searched.
    further: Option<String>,
}

pub async fn list(state: Shared, context: PageContext, query: web::Query<ListQuery>) -> PageResult {
    let query = query.into_inner();
    let (filter, wrong) = query.filter(context.zone, context.visible());
    let (runs, next) = match wrong.is_empty() {
        true => {
            let found = state.store.runs(&filter).await?;
            (found.items, found.next)
        }
        false => (vec![], None),
    };
    let job = match filter.job_id {
        Some(id) => state.store.job(id).await?.filter(|job| context.may_see(&job.app_id)),
        None => None,
    };
    let (next, further) = match runs.len() < PAGE as usize {
        true => (None, next),
        false => (next, None),
    };
    let status = match wrong.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let page = Page {
        rows: runs.into_iter().map(|run| RunRow::new(run, context.now)).collect(),
        context,
        wrong,
        apps: state.store.apps(&filter.apps).await?,
        job,
        states: RunState::ALL,
        causes: Cause::ALL,
        first: query.after.map(|_| query.address(None)),
        next: next.map(|after| query.address(Some(after))),
        further: further.map(|after| query.address(Some(after))),
        query,
    };
    Ok(render(&page, status))
}

impl Page {
    fn word(&self, state: &RunState) -> &'static str {
        run_badge(*state).word
    }

    fn cause(&self, cause: &Cause) -> &'static str {
        cause_text(*cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_it_all() {
        let query = ListQuery { app: "a b".into(), state: "trouble".into(), ..ListQuery::default() };
        assert_eq!(query.address(Some(7)), "/runs?app=a+b&state=trouble&after=7");
        assert_eq!(query.filter(Tz::UTC, VisibleApps::All).0.states.len(), 3);
    }
}
