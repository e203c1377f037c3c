//! The gap audit: what every job's schedule says is compared with what is on record, by a second look at the history of
//! its definitions. The audit finds what claims did wrong, and reports it without mending anything.

use carillon_locale::{Language, Message};
use carillon_scheduler::Millis;

/// Instants of one job that differ in one way for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    pub job_id: i64,
    /// The first and the last of them.
    pub from: Millis,
    pub to: Millis,
    /// How many; 0 where they could not be worked out.
    pub count: u32,
    pub kind: GapKind,
    pub reason: GapReason,
}

impl Difference {
    pub fn is_explained(&self) -> bool {
        self.reason != GapReason::Unexplained
    }
}

/// How the records differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapKind {
    /// Instants without a record.
    Missing,
    /// Records of what is no instant.
    Extra,
    /// A run, and a range of skipped instants around it.
    Twice,
    /// What should be on record is not known.
    Unlooked,
}

impl GapKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Extra => "extra",
            Self::Twice => "twice",
            Self::Unlooked => "unlooked",
        }
    }
}

/// Why they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapReason {
    /// Nothing accounts for it: an instant was lost or made up.
    Unexplained,
    /// The job was edited: the new schedule begins behind what had been recorded ahead.
    Edited,
    /// The job was disabled then.
    Disabled,
    /// The engine had paused it: they are recorded when it goes on.
    Paused,
    /// The look-ahead has not come to them, or no node has worked the shard.
    NotPlanned,
    /// The schedule had had all its fires.
    UsedUp,
    /// The records are older than what is kept.
    Pruned,
    /// The definition of that time cannot be planned.
    Unplannable,
    /// The definition of that time is not on record.
    Unknown,
}

impl GapReason {
    /// In one word, for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unexplained => "unexplained",
            Self::Edited => "edited",
            Self::Disabled => "disabled",
            Self::Paused => "paused",
            Self::NotPlanned => "not_planned",
            Self::UsedUp => "used_up",
            Self::Pruned => "pruned",
            Self::Unplannable => "unplannable",
            Self::Unknown => "unknown",
        }
    }

    /// For people.
    pub fn text(self, language: Language) -> Message {
        language.text(match self {
            Self::Unexplained => "gap-reason-unexplained",
            Self::Edited => "gap-reason-edited",
            Self::Disabled => "gap-reason-disabled",
            Self::Paused => "gap-reason-paused",
            Self::NotPlanned => "gap-reason-not-planned",
            Self::UsedUp => "gap-reason-used-up",
            Self::Pruned => "gap-reason-pruned",
            Self::Unplannable => "gap-reason-unplannable",
            Self::Unknown => "gap-reason-unknown",
        })
    }
}
