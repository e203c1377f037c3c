//! `GET /runs`: the list, its filters in the address.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use carillon_scheduler::{Cause, Millis, RunState};
use chrono::{NaiveDateTime, TimeZone};
use chrono_tz::Tz;
use serde::Deserialize;

use super::problem::Problem;
use super::view::{self, Badge, KILL_ASKED};
use crate::store::{App, Job, RunFilter, RunView};
use crate::web::State;
use crate::web::html::{self, Frame, duration};

const PAGE: u32 = 50;
/// A filter looks at so many runs at a time: what is rare may lie far back, and a page must not take long.
const LOOKED_AT: i64 = 200_000;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
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

impl Asked {
    /// The filter, and what of it cannot be used: the field's label, and why.
    fn filter(&self, zone: Tz) -> (RunFilter, Vec<(&'static str, String)>) {
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
            job_id,
            app: Some(self.app.clone()).filter(|app| !app.is_empty()),
            states,
            cause,
            from,
            to,
            after: self.after,
            above: None,
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
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in self.pairs() {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if let Some(after) = after {
            query.append_pair("after", &after.to_string());
        }
        format!("/runs?{}", query.finish())
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

/// A local time of a field; one that the clocks skip or repeat is its first possible moment.
fn moment(text: &str, zone: Tz) -> Option<Millis> {
    let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    let local = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text.trim(), format).ok())?;
    zone.from_local_datetime(&local).earliest().map(|time| time.timestamp_millis())
}

/// A run as a row of a list.
pub struct Row {
    pub run: RunView,
    pub badge: Badge,
    pub cause: &'static str,
    /// How long it took, or has taken so far.
    pub duration: Option<String>,
    pub message: String,
    /// Sent this much after it was due, where that is worth a word.
    pub late: Option<String>,
}

impl Row {
    pub fn of(run: RunView, now: Millis) -> Self {
        let end = run.finished_at.or((run.state == RunState::Running).then_some(now));
        let badge = match run.kill_asked_at {
            Some(_) if run.state.is_open() => KILL_ASKED,
            _ => view::run_badge(run.state),
        };
        let late = run.sent_at.map(|sent| sent - run.due_at).filter(|late| *late > 1000);
        Self {
            badge,
            cause: view::cause(run.cause),
            duration: run.sent_at.zip(end).map(|(sent, end)| duration(end - sent)),
            message: run.message(),
            late: late.map(duration),
            run,
        }
    }
}

#[derive(Template)]
#[template(path = "runs/list.html")]
struct Page {
    frame: Frame,
    asked: Asked,
    wrong: Vec<(&'static str, String)>,
    apps: Vec<App>,
    /// The job that the list is about.
    job: Option<Job>,
    rows: Vec<Row>,
    states: &'static [RunState],
    causes: &'static [Cause],
    first: Option<String>,
    next: Option<String>,
    /// There may be more behind what was looked at.
    further: Option<String>,
}

pub async fn list(state: web::Data<State>, frame: Frame, asked: web::Query<Asked>) -> Result<HttpResponse, Problem> {
    let asked = asked.into_inner();
    let (mut filter, wrong) = asked.filter(frame.zone);
    let top = match asked.after {
        Some(after) => after,
        None => state.store.newest_run().await? + 1,
    };
    let bottom = top - LOOKED_AT;
    filter.above = asked.is_filtered().then_some(bottom);
    let (runs, next) = match wrong.is_empty() {
        true => {
            let found = state.store.runs(&filter).await?;
            (found.items, found.next)
        }
        false => (vec![], None),
    };
    let job = match filter.job_id {
        Some(id) => state.store.job(id).await?,
        None => None,
    };
    let is_cut = wrong.is_empty() && asked.is_filtered() && next.is_none() && bottom > 0;
    let status = match wrong.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let page = Page {
        rows: runs.into_iter().map(|run| Row::of(run, frame.now)).collect(),
        frame,
        wrong,
        apps: state.store.apps().await?,
        job,
        states: RunState::ALL,
        causes: Cause::ALL,
        first: asked.after.map(|_| asked.address(None)),
        next: next.map(|after| asked.address(Some(after))),
        further: is_cut.then(|| asked.address(Some(bottom + 1))),
        asked,
    };
    Ok(html::page(&page, status))
}

impl Page {
    fn word(&self, state: &RunState) -> &'static str {
        view::run_badge(*state).word
    }

    fn cause(&self, cause: &Cause) -> &'static str {
        view::cause(*cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_time_is_read_in_the_viewers_zone() {
        let berlin = chrono_tz::Europe::Berlin;
        assert_eq!(moment("1970-01-01T01:00", berlin), Some(0));
        assert_eq!(moment("2026-03-29T02:30", berlin), None, "the clocks skip it");
        assert_eq!(moment("yesterday", berlin), None);
    }

    #[test]
    fn the_address_says_it_all() {
        let asked = Asked { app: "a b".into(), state: "trouble".into(), ..Asked::default() };
        assert_eq!(asked.address(Some(7)), "/runs?app=a+b&state=trouble&after=7");
        assert_eq!(asked.filter(Tz::UTC).0.states.len(), 3);
    }
}
