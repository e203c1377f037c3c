//! What may become an alert.

use carillon_scheduler::{AlertKind, Millis};

/// Kept of a text, in bytes.
pub(super) const TEXT: usize = 1_000;

/// An alarm or a misfire that no rule has looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrouted {
    pub mark: Mark,
    pub kind: AlertKind,
    pub job_id: Option<i64>,
    pub job: Option<String>,
    pub app_id: Option<i64>,
    pub run_id: Option<i64>,
    pub text: String,
    pub at: Millis,
}

/// The row whose mark is to be cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Alarm { id: i64 },
    Misfire { job_id: i64, from_at: Millis },
}

/// An event that a rule has matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertEvent {
    pub rule_id: i64,
    /// `rule`, `app:7` or `job:12`.
    pub group_key: String,
    pub app_id: Option<i64>,
    /// What it is about within the group.
    pub subject: String,
    pub kind: AlertKind,
    pub job_id: Option<i64>,
    /// The job's name.
    pub job: Option<String>,
    pub run_id: Option<i64>,
    pub text: String,
    pub at: Millis,
    /// Events in a row before the alert opens.
    pub threshold: i64,
    /// The condition lasts since `at`: it counts once, however often it is seen.
    pub is_lasting: bool,
    /// From the first message to that of the second list of channels.
    pub escalate_after_ms: Option<i64>,
    /// From the first message about events to the second; later ones are further apart.
    pub group_ms: i64,
}

/// The distance of each message from the one before, as a multiple of the first: 5 min, 15 min, 1 h, then 4 h.
const STEPS: [i64; 4] = [1, 3, 12, 48];

/// How long after the last of `steps` messages about events the next one may come.
pub(super) fn distance(group_ms: i64, steps: i64) -> Millis {
    let place = usize::try_from(steps - 1).map_or(0, |place| place.min(STEPS.len() - 1));
    // No further apart than a day, unless the rule asks for it.
    (group_ms * STEPS[place]).min(group_ms.max(86_400_000))
}

impl AlertEvent {
    pub(super) fn open_key(&self) -> String {
        format!("{}:{}", self.rule_id, self.group_key)
    }
}
