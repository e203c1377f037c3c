//! The badges of states: a word, an icon and a colour. The words are keys of the catalogue.

use carillon_scheduler::RunState;
use carillon_store::{DeclaredState, Job};

/// A state as a word, an icon and a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Badge {
    /// The key of the word.
    pub word: &'static str,
    /// `ok`, `failed`, `running`, `waiting`, `none`: a colour.
    pub tone: &'static str,
    /// Name of the icon in `icons.svg`.
    pub icon: &'static str,
    /// Whether it will change by itself.
    pub moving: bool,
    /// The key of what the word means, in one sentence; empty where the word is enough.
    pub hint: &'static str,
}

const fn badge(word: &'static str, tone: &'static str, icon: &'static str, moving: bool) -> Badge {
    Badge { word, tone, icon, moving, hint: "" }
}

const fn explained(badge: Badge, hint: &'static str) -> Badge {
    Badge { hint, ..badge }
}

pub const fn run_badge(state: RunState) -> Badge {
    match state {
        RunState::Claimed => explained(badge("claimed", "waiting", "clock", true), "claimed-hint"),
        RunState::Sending => explained(badge("sending", "running", "sending", true), "sending-hint"),
        RunState::Running => explained(badge("running", "running", "running", true), "running-hint"),
        RunState::Unknown => explained(badge("outcome-unknown", "waiting", "question", false), "outcome-unknown-hint"),
        RunState::Lost => explained(badge("lost", "failed", "lost", false), "lost-hint"),
        RunState::Succeeded => explained(badge("succeeded", "ok", "check", false), "succeeded-hint"),
        RunState::Failed => explained(badge("failed", "failed", "cross", false), "failed-hint"),
        RunState::Killed => explained(badge("killed", "none", "stop", false), "killed-hint"),
        RunState::Cancelled => explained(badge("cancelled", "none", "dash", false), "cancelled-hint"),
    }
}

pub const KILL_ASKED: Badge = explained(badge("kill-asked", "waiting", "stop", true), "kill-asked-hint");

pub fn job_badge(job: &Job) -> Badge {
    match (job.draft.enabled, &job.paused_reason) {
        (true, _) => badge("enabled", "ok", "play", false),
        (false, Some(_)) => explained(badge("paused-by-engine", "failed", "warning", false), "paused-by-engine-hint"),
        (false, None) => badge("paused", "none", "pause", false),
    }
}

pub const fn declared_badge(state: DeclaredState) -> Badge {
    match state {
        DeclaredState::Applied => badge("declared-applied", "ok", "check", false),
        DeclaredState::Pending => {
            explained(badge("declared-pending", "waiting", "clock", false), "declared-pending-hint")
        }
        DeclaredState::Overridden => {
            explained(badge("declared-overridden", "waiting", "edit", false), "declared-overridden-hint")
        }
        DeclaredState::Drift => explained(badge("declared-drift", "waiting", "warning", false), "declared-drift-hint"),
        DeclaredState::Twin => explained(badge("declared-twin", "waiting", "warning", false), "declared-twin-hint"),
        DeclaredState::OfFiles => {
            explained(badge("declared-of-files", "waiting", "warning", false), "declared-of-files-hint")
        }
        DeclaredState::Deleted => explained(badge("declared-deleted", "none", "trash", false), "declared-deleted-hint"),
        DeclaredState::Orphan => {
            explained(badge("declared-orphan", "waiting", "question", false), "declared-orphan-hint")
        }
        DeclaredState::Failed => explained(badge("declared-failed", "failed", "cross", false), "declared-failed-hint"),
    }
}

/// An enabled job whose app is paused: no fire of its schedule is sent.
pub const APP_PAUSED: Badge = explained(badge("app-paused", "waiting", "pause", false), "app-paused-hint");

pub const ONLINE: Badge = badge("online", "ok", "online", false);
pub const UNREACHABLE: Badge = explained(badge("unreachable", "failed", "warning", false), "unreachable-hint");
pub const DRAINING: Badge = explained(badge("draining", "waiting", "pause", false), "draining-hint");
pub const OFFLINE: Badge = badge("offline", "none", "offline", false);

/// The word of `data-state` on a job's row.
pub fn job_state(job: &Job) -> &'static str {
    if job.draft.enabled { "enabled" } else { "paused" }
}
