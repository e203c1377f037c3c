//! What pages show of jobs and runs: a state as a word, a mark and a tone; a schedule in words; the last runs as a strip.

use std::collections::HashMap;

use carillon_scheduler::{Cause, KindDraft, RunState, ScheduleDraft};

use crate::store::Job;
use crate::store::overview::RunMark;
use crate::web::words::{period, utc};

/// A state: never shown by its colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Badge {
    pub word: &'static str,
    /// `ok`, `failed`, `running`, `waiting`, `none`: a colour.
    pub tone: &'static str,
    /// Name of the mark in `icons.svg`.
    pub icon: &'static str,
    /// Will it change by itself?
    pub moving: bool,
    /// What the word means, in one sentence; empty where the word is enough.
    pub hint: &'static str,
}

const fn badge(word: &'static str, tone: &'static str, icon: &'static str, moving: bool) -> Badge {
    Badge { word, tone, icon, moving, hint: "" }
}

const fn explained(badge: Badge, hint: &'static str) -> Badge {
    Badge { hint, ..badge }
}

pub const fn run_badge(state: RunState) -> Badge {
    explained(plain_badge(state), run_hint(state))
}

const fn run_hint(state: RunState) -> &'static str {
    match state {
        RunState::Claimed => "Recorded in the database; not sent yet.",
        RunState::Sending => "Marked for one executor; the request is under way.",
        RunState::Running => "The executor has accepted the run: it is running or queued there.",
        RunState::Unknown => "Sent, but no outcome could be learned. Counts as failed until a report arrives.",
        RunState::Lost => {
            "The executor went away before it reported a result. Counts as failed until a report arrives."
        }
        RunState::Succeeded => "The handler reported success.",
        RunState::Failed => "The handler reported a failure, or the run could not be delivered.",
        RunState::Killed => "Ended by a kill.",
        RunState::Cancelled => "Called off before it was sent.",
    }
}

const fn plain_badge(state: RunState) -> Badge {
    match state {
        RunState::Claimed => badge("claimed", "waiting", "clock", true),
        RunState::Sending => badge("sending", "running", "sending", true),
        RunState::Running => badge("running", "running", "running", true),
        RunState::Unknown => badge("outcome unknown", "waiting", "question", false),
        RunState::Lost => badge("lost", "failed", "lost", false),
        RunState::Succeeded => badge("succeeded", "ok", "check", false),
        RunState::Failed => badge("failed", "failed", "cross", false),
        RunState::Killed => badge("killed", "none", "stop", false),
        RunState::Cancelled => badge("cancelled", "none", "dash", false),
    }
}

pub const KILL_ASKED: Badge = explained(
    badge("kill asked", "waiting", "stop", true),
    "The executor was asked to end the run; the run ends when its handler does.",
);

pub fn job_badge(job: &Job) -> Badge {
    match (job.draft.enabled, &job.paused_reason) {
        (true, _) => badge("enabled", "ok", "play", false),
        (false, Some(_)) => explained(
            badge("paused by the engine", "failed", "warning", false),
            "Its definition cannot be planned. Edit the job, then resume it.",
        ),
        (false, None) => badge("paused", "none", "pause", false),
    }
}

pub const ONLINE: Badge = badge("online", "ok", "online", false);
pub const UNREACHABLE: Badge = explained(
    badge("unreachable", "failed", "warning", false),
    "The executor registers, but requests of this node to it fail.",
);
pub const OFFLINE: Badge = badge("offline", "none", "offline", false);

/// The word of `data-state` on a job's row.
pub fn job_state(job: &Job) -> &'static str {
    if job.draft.enabled { "enabled" } else { "paused" }
}

/// Every kind of schedule and its name.
pub const KINDS: [(&str, &str); 7] = [
    ("cron", "Cron"),
    ("unix_cron", "Unix cron"),
    ("fixed_rate", "Fixed rate"),
    ("fixed_delay", "Fixed delay"),
    ("daily", "Daily window"),
    ("once", "Once"),
    ("none", "No schedule"),
];

/// A schedule in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleText {
    /// `Fixed rate`
    pub kind: &'static str,
    /// `every 5 seconds`, or an expression.
    pub main: String,
    /// An expression is shown in the fixed-width face.
    pub is_code: bool,
    /// The time zone, where the kind has one.
    pub zone: String,
}

impl ScheduleText {
    /// The second line in a list. A cron expression needs no name beside it.
    pub fn note(&self) -> String {
        match (self.kind, self.zone.as_str()) {
            ("Cron", zone) => zone.to_owned(),
            (kind, "") => kind.to_owned(),
            (kind, zone) => format!("{kind}, {zone}"),
        }
    }

    /// A longer expression may be broken into lines.
    pub fn is_short(&self) -> bool {
        self.main.chars().count() <= 24
    }
}

pub fn schedule(draft: &ScheduleDraft) -> ScheduleText {
    let word = draft.kind();
    let kind = KINDS.iter().find(|(kind, _)| *kind == word).map_or("", |(_, name)| name);
    let (main, zone) = match &draft.kind {
        KindDraft::None => ("by hand or API".to_owned(), ""),
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => (cron.expression.clone(), cron.timezone.as_str()),
        KindDraft::FixedRate { seconds } => (format!("every {}", period(*seconds)), ""),
        KindDraft::FixedDelay { seconds } => (format!("{} after each run", period(*seconds)), ""),
        KindDraft::Once { at } => (utc(*at).format("%Y-%m-%d %H:%M:%S UTC").to_string(), ""),
        KindDraft::Daily(daily) => {
            let every = period(daily.every_seconds);
            (format!("every {every} from {} to {}", daily.from, daily.to), daily.timezone.as_str())
        }
    };
    let is_code = matches!(draft.kind, KindDraft::Cron(_) | KindDraft::UnixCron(_));
    ScheduleText { kind, main, is_code, zone: zone.to_owned() }
}

pub const fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Schedule => "schedule",
        Cause::Manual => "by hand",
        Cause::Api => "API",
        Cause::Child => "child",
        Cause::Backfill => "backfill",
    }
}

/// The last runs of a job as small bars, the newest at the right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    pub bars: Vec<Bar>,
    /// The same in words.
    pub label: String,
    pub last: Option<RunMark>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    pub x: usize,
    pub y: usize,
    pub height: usize,
    pub tone: &'static str,
}

pub const STRIP: usize = 12;

impl Strip {
    /// `marks` are newest first.
    pub fn of(marks: Option<&Vec<RunMark>>) -> Self {
        let marks = marks.map_or(&[][..], |marks| &marks[..marks.len().min(STRIP)]);
        let empty = STRIP - marks.len();
        let bars = marks.iter().rev().enumerate().map(|(index, mark)| {
            let tone = run_badge(mark.state).tone;
            let height = if tone == "failed" { 16 } else { 10 };
            Bar { x: (empty + index) * 6, y: 16 - height, height, tone }
        });
        Self { bars: bars.collect(), label: words(marks), last: marks.first().cloned() }
    }

    pub fn badge(&self) -> Option<Badge> {
        self.last.as_ref().map(|mark| run_badge(mark.state))
    }
}

/// `last 3 runs: 2 succeeded, 1 failed`
fn words(marks: &[RunMark]) -> String {
    let mut counts: HashMap<RunState, usize> = HashMap::new();
    for mark in marks {
        *counts.entry(mark.state).or_default() += 1;
    }
    let parts: Vec<String> = RunState::ALL
        .iter()
        .rev()
        .filter_map(|state| counts.get(state).map(|count| format!("{count} {}", run_badge(*state).word)))
        .collect();
    match marks.len() {
        0 => String::new(),
        1 => format!("last run {}", run_badge(marks[0].state).word),
        count => format!("last {count} runs: {}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(id: i64, state: RunState) -> RunMark {
        RunMark { id, state, scheduled_at: 0 }
    }

    #[test]
    fn a_strip_ends_with_the_newest_run_and_says_so_in_words() {
        let marks = vec![mark(3, RunState::Failed), mark(2, RunState::Succeeded), mark(1, RunState::Succeeded)];
        let strip = Strip::of(Some(&marks));
        let shown: Vec<_> = strip.bars.iter().map(|bar| (bar.x, bar.tone)).collect();
        assert_eq!(shown, [(54, "ok"), (60, "ok"), (66, "failed")]);
        assert_eq!(strip.label, "last 3 runs: 1 failed, 2 succeeded");
        assert_eq!(strip.badge(), Some(run_badge(RunState::Failed)));
        assert_eq!(Strip::of(None), Strip::default());
    }

    #[test]
    fn schedules_in_words() {
        let text = |draft| schedule(&draft).main;
        assert_eq!(text(ScheduleDraft::fixed_rate(300)), "every 5 minutes");
        assert_eq!(schedule(&ScheduleDraft::fixed_rate(300)).note(), "Fixed rate");
        assert_eq!(schedule(&ScheduleDraft::unix_cron("0 3 * * *", "UTC")).note(), "Unix cron, UTC");
        assert_eq!(text(ScheduleDraft::none()), "by hand or API");
        let cron = schedule(&ScheduleDraft::cron("0 0 3 * * ?", "Asia/Shanghai"));
        assert_eq!((cron.main.as_str(), cron.zone.as_str(), cron.is_code), ("0 0 3 * * ?", "Asia/Shanghai", true));
    }
}
