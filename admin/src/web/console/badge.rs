//! The badges of states: a word, an icon and a colour.

use carillon_scheduler::RunState;
use carillon_store::Job;

/// A state as a word, an icon and a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Badge {
    pub word: &'static str,
    /// `ok`, `failed`, `running`, `waiting`, `none`: a colour.
    pub tone: &'static str,
    /// Name of the icon in `icons.svg`.
    pub icon: &'static str,
    /// Whether it will change by itself.
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
pub const DRAINING: Badge =
    explained(badge("draining", "waiting", "pause", false), "It gets no new runs; those that it has end there.");
pub const OFFLINE: Badge = badge("offline", "none", "offline", false);

/// The word of `data-state` on a job's row.
pub fn job_state(job: &Job) -> &'static str {
    if job.draft.enabled { "enabled" } else { "paused" }
}
