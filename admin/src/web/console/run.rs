//! One run: its story, its parts and attempts, its log, and its end.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use carillon_scheduler::{Millis, RunState};

use super::choice::Choice;
use super::log::{self, Part};
use super::problem::Problem;
use super::runs::Row;
use crate::pipeline::{self, Kill};
use crate::store::{Job, RunParams, RunView};
use crate::web::State;
use crate::web::html::{self, Frame, duration, see_other_with};

pub(super) async fn find(state: &State, id: i64) -> Result<RunView, Problem> {
    state.store.run(id).await?.ok_or(Problem::Missing("run"))
}

/// A moment in the life of a run, or what it still waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub what: &'static str,
    pub at: Option<Millis>,
    /// Since the step before.
    pub gap: Option<String>,
    pub tone: &'static str,
    pub note: String,
}

/// What has happened to the run, in order, and what comes next.
fn story(run: &RunView, row: &Row, now: Millis) -> Vec<Step> {
    let mut steps = beginning(run, now);
    if let Some(at) = run.flagged_at {
        steps.push(step("Not sent in time", Some(at), "none"));
    }
    if let Some(at) = run.kill_asked_at {
        steps.push(step("Kill asked", Some(at), "none"));
    }
    steps.push(match run.state {
        RunState::Claimed | RunState::Sending => step("Finished", None, ""),
        RunState::Running => Step {
            note: row.duration.as_ref().map_or_else(String::new, |it| format!("for {it} so far")),
            ..step("Running", None, "running")
        },
        _ => step(ending(run.state), run.finished_at, row.badge.tone),
    });
    // A run is marked a little before it is due, so that it leaves on time; what has not happened yet stays last.
    steps.sort_by_key(|step| step.at.unwrap_or(Millis::MAX));
    let mut before: Option<Millis> = None;
    for step in &mut steps {
        step.gap = step.at.zip(before).map(|(at, before)| format!("+{}", duration(at - before)));
        before = step.at.or(before);
    }
    steps
}

/// Up to the moment at which the request leaves.
fn beginning(run: &RunView, now: Millis) -> Vec<Step> {
    let done = |is_done: bool| if is_done { "done" } else { "" };
    let mut steps = vec![];
    if run.due_at != run.scheduled_at {
        steps.push(step("Scheduled", Some(run.scheduled_at), done(run.scheduled_at <= now)));
    }
    steps.push(step("Due", Some(run.due_at), done(run.due_at <= now)));
    if run.marked_at.is_some() || run.state == RunState::Claimed {
        let owner = run.owner.as_ref().filter(|_| run.marked_at.is_some());
        steps.push(Step {
            note: owner.map_or_else(String::new, |node| format!("by node {node}")),
            ..step("Marked for sending", run.marked_at, done(run.marked_at.is_some()))
        });
    }
    if run.sent_at.is_some() || run.state.is_open() {
        steps.push(Step {
            note: run.address.as_ref().map_or_else(String::new, |it| format!("to {it}")),
            ..step("Sent", run.sent_at, done(run.sent_at.is_some()))
        });
    }
    steps
}

fn step(what: &'static str, at: Option<Millis>, tone: &'static str) -> Step {
    Step { what, at, gap: None, tone, note: String::new() }
}

fn ending(state: RunState) -> &'static str {
    match state {
        RunState::Succeeded => "Succeeded",
        RunState::Failed => "Failed",
        RunState::Killed => "Killed",
        RunState::Cancelled => "Cancelled",
        RunState::Lost => "Lost",
        _ => "Outcome unknown",
    }
}

#[derive(Template)]
#[template(path = "runs/run.html")]
struct Page {
    frame: Frame,
    row: Row,
    job: Option<Job>,
    steps: Vec<Step>,
    choice: Option<Choice>,
    /// The other runs of the same fire.
    family: Vec<Row>,
    given: RunParams,
    log: Part,
}

impl Page {
    fn can_be_killed(&self) -> bool {
        let run = &self.row.run;
        matches!(run.state, RunState::Claimed | RunState::Sending | RunState::Running) && run.kill_asked_at.is_none()
    }

    /// Nobody knows what became of it; somebody may.
    fn can_be_resolved(&self) -> bool {
        matches!(self.row.run.state, RunState::Unknown | RunState::Lost)
    }

    /// What the run was given; None: see the note.
    fn params(&self) -> Option<&str> {
        self.given.text()
    }

    /// Where the parameters come from, and whether the job has others by now.
    fn params_note(&self) -> String {
        match &self.given {
            RunParams::Own(_) => "given for this run".to_owned(),
            RunParams::Waiting(_) => "the job's own, as they are now: the run is not sent yet".to_owned(),
            RunParams::NeverSent => "It was never sent, so it was given none.".to_owned(),
            RunParams::NotOnRecord => "They are not on record for this run.".to_owned(),
            RunParams::Sent(text) => {
                let version = self.row.run.revision.map_or_else(String::new, |number| format!(", version {number}"));
                match &self.job {
                    Some(job) if job.draft.params != *text => {
                        format!("the job's own as the run was sent{version}; version {} has others", job.revision)
                    }
                    _ => format!("the job's own{version}"),
                }
            }
        }
    }

    fn is_moving(&self) -> bool {
        self.row.badge.moving
    }
}

/// `GET /runs/{id}`
pub async fn page(
    state: web::Data<State>,
    frame: Frame,
    id: web::Path<i64>,
    asked: web::Query<log::Shown>,
) -> Result<HttpResponse, Problem> {
    let run = find(&state, *id).await?;
    let mut family = state.store.fire_runs(&run).await?;
    if family.len() < 2 {
        family.clear();
    }
    let now = frame.now;
    let choice = state.store.choice(&run).await?.map(Choice::of);
    let row = Row::of(run, now);
    let page = Page {
        choice,
        log: log::part(&state, &row.run, asked.line).await,
        given: state.store.params_of(&row.run).await?,
        job: state.store.job(row.run.job_id).await?,
        steps: story(&row.run, &row, now),
        family: family.into_iter().map(|run| Row::of(run, now)).collect(),
        row,
        frame,
    };
    Ok(html::page(&page, StatusCode::OK))
}

#[derive(Template)]
#[template(path = "runs/kill.html")]
struct Question {
    frame: Frame,
    row: Row,
}

/// `GET /runs/{id}/kill` asks.
pub async fn ask_kill(state: web::Data<State>, frame: Frame, id: web::Path<i64>) -> Result<HttpResponse, Problem> {
    let row = Row::of(find(&state, *id).await?, frame.now);
    if !row.run.state.is_open() {
        let to = format!("/runs/{}", *id);
        return Ok(see_other_with(&to, "ok", "The run has ended already."));
    }
    Ok(html::page(&Question { frame, row }, StatusCode::OK))
}

/// `POST /runs/{id}/kill`
pub async fn kill(state: web::Data<State>, id: web::Path<i64>) -> Result<HttpResponse, Problem> {
    let to = format!("/runs/{}", *id);
    let (kind, text) = match state.pipeline.kill(*id).await {
        Ok(Kill::Cancelled) => ("ok", "The run is cancelled; it had not been sent.".to_owned()),
        Ok(Kill::Asked) => ("ok", "The executor was asked to end the run.".to_owned()),
        Ok(Kill::AlreadyEnded) => ("ok", "The run has ended already.".to_owned()),
        Err(pipeline::Error::Executor(why)) => ("failed", format!("The run goes on: {why}.")),
        Err(error) => return Err(error.into()),
    };
    Ok(see_other_with(&to, kind, &text))
}
