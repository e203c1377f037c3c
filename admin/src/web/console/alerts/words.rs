//! The words for what rules are about, as keys of the catalogue.

use carillon_scheduler::AlertKind;

use crate::web::page::PageContext;

/// What can be chosen in the form of a rule, in this order.
pub const KINDS: [AlertKind; 16] = [
    AlertKind::Failed,
    AlertKind::Unknown,
    AlertKind::Lost,
    AlertKind::Paused,
    AlertKind::Stuck,
    AlertKind::ChildNotStarted,
    AlertKind::LateStart,
    AlertKind::Loop,
    AlertKind::LongRunning,
    AlertKind::Misfire,
    AlertKind::NoExecutor,
    AlertKind::ExecutorLost,
    AlertKind::Gap,
    AlertKind::Clock,
    AlertKind::Database,
    AlertKind::Ring,
];

/// A kind of alert in a list.
pub const fn kind_word(kind: AlertKind) -> &'static str {
    words(kind).0
}

/// The same in the form of a rule.
pub const fn kind_label(kind: AlertKind) -> &'static str {
    words(kind).1
}

const fn words(kind: AlertKind) -> (&'static str, &'static str) {
    match kind {
        AlertKind::Failed => ("alert-kind-failed", "alert-on-failed"),
        AlertKind::Unknown => ("alert-kind-unknown", "alert-on-unknown"),
        AlertKind::Lost => ("alert-kind-lost", "alert-on-lost"),
        AlertKind::Paused => ("alert-kind-paused", "alert-on-paused"),
        AlertKind::Clock => ("alert-kind-clock", "alert-on-clock"),
        AlertKind::Database => ("alert-kind-database", "alert-on-database"),
        AlertKind::Ring => ("alert-kind-ring", "alert-on-ring"),
        AlertKind::Gap => ("alert-kind-gap", "alert-on-gap"),
        AlertKind::Stuck => ("alert-kind-stuck", "alert-on-stuck"),
        AlertKind::ChildNotStarted => ("alert-kind-child-not-started", "alert-on-child-not-started"),
        AlertKind::LateStart => ("alert-kind-late-start", "alert-on-late-start"),
        AlertKind::Loop => ("alert-kind-loop", "alert-on-loop"),
        AlertKind::LongRunning => ("alert-kind-long-running", "alert-on-long-running"),
        AlertKind::Misfire => ("alert-kind-misfire", "alert-on-misfire"),
        AlertKind::ExecutorLost => ("alert-kind-executor-lost", "alert-on-executor-lost"),
        AlertKind::NoExecutor => ("alert-kind-no-executor", "alert-on-no-executor"),
    }
}

/// The text of an event. That of a job begins with the job's name, which may contain a colon itself.
pub fn event_text(context: &PageContext, text: &str) -> String {
    let starts = std::iter::once(0).chain(text.match_indices(": ").map(|(at, _)| at + 2));
    let said = |start: usize| {
        let said = context.say(&text[start..]);
        (said != text[start..]).then(|| format!("{}{said}", &text[..start]))
    };
    starts.take(8).find_map(said).unwrap_or_else(|| text.to_owned())
}
