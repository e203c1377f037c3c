//! The tasks of this node, as the page *Nodes* shows them: the loops of the scheduler with the last round of each.

use std::time::Duration;

use carillon_engine::runtime::task_list::{Task, TaskList, Work};
use carillon_scheduler::Millis;

use crate::web::locale::{Language, Message};
use crate::web::text::format::duration;

/// A task that was to start longer ago than this is marked.
const MUCH: Duration = Duration::from_secs(1);

pub struct TaskRow {
    /// Of the row, for the page that refreshes itself.
    pub key: String,
    pub name: Message,
    pub rounds: u64,
    pub started_at: Option<Millis>,
    pub is_working: bool,
    pub took: String,
    pub lag: String,
    pub is_late: bool,
    pub work: Vec<Message>,
    pub worked_at: Option<Millis>,
}

/// The two loops first: what sends, and what scans each shard.
pub fn rows(tasks: &TaskList, language: Language) -> Vec<TaskRow> {
    let mut tasks = tasks.all();
    tasks.sort_by_key(|task| match task.name {
        "dispatch" => 0,
        "scan" => 1,
        _ => 2,
    });
    tasks.into_iter().map(|task| row(task, language)).collect()
}

fn row(task: Task, language: Language) -> TaskRow {
    let work =
        |work: &Work| work.counts.iter().map(|(word, count)| language.text(did(word)).count("count", *count)).collect();
    TaskRow {
        key: task.shard.map_or_else(|| task.name.to_owned(), |shard| format!("{} {shard}", task.name)),
        name: match task.shard {
            Some(shard) => language.text(title(task.name)).with("shard", shard),
            None => language.text(title(task.name)),
        },
        rounds: task.rounds,
        started_at: task.started_at,
        is_working: task.is_working,
        took: short(language, task.took),
        lag: short(language, task.lag),
        is_late: task.lag > MUCH,
        work: task.work.as_ref().map(work).unwrap_or_default(),
        worked_at: task.work.map(|work| work.at),
    }
}

fn short(language: Language, time: Duration) -> String {
    match time.as_millis() {
        0 => language.text("clock-equal").to_string(),
        ms => duration(language, Millis::try_from(ms).unwrap_or(Millis::MAX)),
    }
}

/// The service of a task.
fn title(name: &str) -> &'static str {
    match name {
        "dispatch" => "task-dispatch",
        "scan" => "task-scan",
        "poll" => "task-poll",
        "lease" => "task-lease",
        "clock" => "task-clock",
        "hints" => "task-hints",
        "complete" => "task-complete",
        "successes" => "task-successes",
        "advance" => "task-advance",
        "unmark" => "task-unmark",
        "route refresh" => "task-route-refresh",
        "pauses" => "task-pauses",
        "limits" => "task-limits",
        "resolve" => "task-resolve",
        "monitor" => "task-monitor",
        "lease ends" => "task-lease-ends",
        "loops" => "task-loops",
        "flag overdue" => "task-flag-overdue",
        "watch starts" => "task-watch-starts",
        "escalate" => "task-escalate",
        "backfill" => "task-backfill",
        "calendars" => "task-calendars",
        "zones" => "task-zones",
        "gaps" => "task-gaps",
        "prune" => "task-prune",
        "summarize" => "task-summarize",
        "alerts" => "task-alerts",
        "declarations" => "task-declarations",
        "deliveries" => "task-deliveries",
        _ => "task-other",
    }
}

/// What a round counts.
fn did(word: &str) -> &'static str {
    match word {
        "claimed" => "did-claimed",
        "released" => "did-released",
        "adopted" => "did-adopted",
        "skipped" => "did-skipped",
        "paused" => "did-paused",
        "sent" => "did-sent",
        "probed" => "did-probed",
        "waiting" => "did-waiting",
        "failed" => "did-failed",
        "cancelled" => "did-cancelled",
        "settled" => "did-settled",
        "accepted" => "did-accepted",
        "taken" => "did-taken",
        "lost" => "did-lost",
        "woken" => "did-woken",
        "panicked" => "did-panicked",
        _ => "did-handled",
    }
}
