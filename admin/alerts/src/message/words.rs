//! The keys of the catalogue for kinds of alerts.

use carillon_scheduler::AlertKind;

/// What a job did, or what is wrong.
pub const fn happened(kind: AlertKind) -> &'static str {
    match kind {
        AlertKind::Failed => "happened-failed",
        AlertKind::Unknown => "happened-unknown",
        AlertKind::Lost => "happened-lost",
        AlertKind::Paused => "happened-paused",
        AlertKind::Clock => "happened-clock",
        AlertKind::Database => "happened-database",
        AlertKind::Ring => "happened-ring",
        AlertKind::Gap => "happened-gap",
        AlertKind::Stuck => "happened-stuck",
        AlertKind::ChildNotStarted => "happened-child-not-started",
        AlertKind::LateStart => "happened-late-start",
        AlertKind::Loop => "happened-loop",
        AlertKind::LongRunning => "happened-long-running",
        AlertKind::Misfire => "happened-misfire",
        AlertKind::ExecutorLost => "happened-executor-lost",
        AlertKind::NoExecutor => "happened-no-executor",
    }
}

/// What is well again, of an item without a job.
pub(super) const fn recovered(kind: AlertKind) -> &'static str {
    match kind {
        AlertKind::Clock => "recovered-clock",
        AlertKind::Database => "recovered-database",
        AlertKind::Ring => "recovered-ring",
        AlertKind::ExecutorLost => "recovered-executor-lost",
        AlertKind::NoExecutor => "recovered-no-executor",
        _ => "recovered-condition",
    }
}
