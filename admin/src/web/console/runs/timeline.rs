//! What has happened to a run, in order, and what comes next.

use carillon_scheduler::{Millis, RunState};
use carillon_store::RunView;

use crate::web::console::runs::audit_trail::RunPeople;
use crate::web::console::runs::row::RunRow;
use crate::web::locale::Message;
use crate::web::page::PageContext;
use crate::web::text::format::duration;

/// A step in the life of a run, or the one that it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineStep {
    /// The key of its name.
    pub what: &'static str,
    pub at: Option<Millis>,
    /// Since the step before.
    pub gap: Option<String>,
    pub tone: &'static str,
    pub note: String,
}

/// What has happened to the run, in order, and what comes next.
pub fn timeline(context: &PageContext, row: &RunRow, people: &RunPeople, is_workflow: bool) -> Vec<TimelineStep> {
    let run = &row.run;
    let mut steps = beginning(context, run, is_workflow);
    if let Some(at) = run.flagged_at {
        steps.push(step("step-flagged", Some(at), "none"));
    }
    if let Some(at) = run.kill_asked_at {
        let by = people.killed.as_ref().map(|actor| context.t("by-author").with("author", actor));
        steps.push(TimelineStep { note: note(by), ..step("step-kill-asked", Some(at), "none") });
    }
    steps.push(match run.state {
        RunState::Claimed | RunState::Sending => step("step-finished", None, ""),
        RunState::Running => TimelineStep {
            note: note(row.duration.as_ref().map(|it| context.t("step-so-far").with("duration", it))),
            ..step("step-running", None, "running")
        },
        _ => {
            let resolved = people.resolved.as_ref().map(|actor| context.t("resolved-by").with("author", actor));
            let called_off = people.killed.as_ref().filter(|_| run.state == RunState::Cancelled);
            let by = resolved.or_else(|| Some(context.t("by-author").with("author", called_off?)));
            TimelineStep { note: note(by), ..step(ending(run.state), run.finished_at, row.badge.tone) }
        }
    });
    // A run is marked a little before it is due, so that it is sent on time; steps that have not happened yet come last.
    steps.sort_by_key(|step| step.at.unwrap_or(Millis::MAX));
    let mut before: Option<Millis> = None;
    for step in &mut steps {
        step.gap = step.at.zip(before).map(|(at, before)| format!("+{}", duration(context.language, at - before)));
        before = step.at.or(before);
    }
    steps
}

/// Up to the request to the executor, or the begin of a workflow.
fn beginning(context: &PageContext, run: &RunView, is_workflow: bool) -> Vec<TimelineStep> {
    let now = context.now;
    let done = |is_done: bool| if is_done { "done" } else { "" };
    let mut steps = vec![];
    if run.due_at != run.scheduled_at {
        steps.push(step("step-scheduled", Some(run.scheduled_at), done(run.scheduled_at <= now)));
    }
    steps.push(step("step-due", Some(run.due_at), done(run.due_at <= now)));
    if run.marked_at.is_some() || run.state == RunState::Claimed && !is_workflow {
        let owner = run.owner.as_ref().filter(|_| run.marked_at.is_some());
        steps.push(TimelineStep {
            note: note(owner.map(|node| context.t("step-by-node").with("node", node))),
            ..step("step-marked", run.marked_at, done(run.marked_at.is_some()))
        });
    }
    if run.sent_at.is_some() || run.state.is_open() {
        steps.push(TimelineStep {
            note: note(run.address.as_ref().map(|it| context.t("step-to").with("address", it))),
            ..step(
                if is_workflow { "workflow-step-begun" } else { "step-sent" },
                run.sent_at,
                done(run.sent_at.is_some()),
            )
        });
    }
    steps
}

fn note(text: Option<Message>) -> String {
    text.map_or_else(String::new, |text| text.to_string())
}

fn step(what: &'static str, at: Option<Millis>, tone: &'static str) -> TimelineStep {
    TimelineStep { what, at, gap: None, tone, note: String::new() }
}

fn ending(state: RunState) -> &'static str {
    match state {
        RunState::Succeeded => "step-succeeded",
        RunState::Failed => "step-failed",
        RunState::Killed => "step-killed",
        RunState::Cancelled => "step-cancelled",
        RunState::Lost => "step-lost",
        _ => "step-unknown",
    }
}
