//! What has happened to a run, in order, and what comes next.

use carillon_scheduler::{Millis, RunState};
use carillon_store::RunView;

use crate::web::console::runs::row::RunRow;
use crate::web::text::format::duration;

/// A step in the life of a run, or the one that it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineStep {
    pub what: &'static str,
    pub at: Option<Millis>,
    /// Since the step before.
    pub gap: Option<String>,
    pub tone: &'static str,
    pub note: String,
}

/// What has happened to the run, in order, and what comes next.
pub fn timeline(run: &RunView, row: &RunRow, now: Millis) -> Vec<TimelineStep> {
    let mut steps = beginning(run, now);
    if let Some(at) = run.flagged_at {
        steps.push(step("Not sent in time", Some(at), "none"));
    }
    if let Some(at) = run.kill_asked_at {
        steps.push(step("Kill asked", Some(at), "none"));
    }
    steps.push(match run.state {
        RunState::Claimed | RunState::Sending => step("Finished", None, ""),
        RunState::Running => TimelineStep {
            note: row.duration.as_ref().map_or_else(String::new, |it| format!("for {it} so far")),
            ..step("Running", None, "running")
        },
        _ => step(ending(run.state), run.finished_at, row.badge.tone),
    });
    // A run is marked a little before it is due, so that it is sent on time; steps that have not happened yet come last.
    steps.sort_by_key(|step| step.at.unwrap_or(Millis::MAX));
    let mut before: Option<Millis> = None;
    for step in &mut steps {
        step.gap = step.at.zip(before).map(|(at, before)| format!("+{}", duration(at - before)));
        before = step.at.or(before);
    }
    steps
}

/// Up to the request to the executor.
fn beginning(run: &RunView, now: Millis) -> Vec<TimelineStep> {
    let done = |is_done: bool| if is_done { "done" } else { "" };
    let mut steps = vec![];
    if run.due_at != run.scheduled_at {
        steps.push(step("Scheduled", Some(run.scheduled_at), done(run.scheduled_at <= now)));
    }
    steps.push(step("Due", Some(run.due_at), done(run.due_at <= now)));
    if run.marked_at.is_some() || run.state == RunState::Claimed {
        let owner = run.owner.as_ref().filter(|_| run.marked_at.is_some());
        steps.push(TimelineStep {
            note: owner.map_or_else(String::new, |node| format!("by node {node}")),
            ..step("Marked for sending", run.marked_at, done(run.marked_at.is_some()))
        });
    }
    if run.sent_at.is_some() || run.state.is_open() {
        steps.push(TimelineStep {
            note: run.address.as_ref().map_or_else(String::new, |it| format!("to {it}")),
            ..step("Sent", run.sent_at, done(run.sent_at.is_some()))
        });
    }
    steps
}

fn step(what: &'static str, at: Option<Millis>, tone: &'static str) -> TimelineStep {
    TimelineStep { what, at, gap: None, tone, note: String::new() }
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
