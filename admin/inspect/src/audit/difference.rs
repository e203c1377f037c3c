//! The gap audit: what every job's schedule says is compared with what is on record, by a second look at the history of
//! its definitions. The audit finds what claims did wrong, and reports it without mending anything.

use carillon_locale::{Language, Message};
use carillon_scheduler::{Millis, words};

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

words! {
    /// How the records differ.
    pub enum GapKind: "kind of gap" {
        /// Instants without a record.
        Missing = 0 "missing",
        /// Records of what is no instant.
        Extra = 1 "extra",
        /// A run, and a range of skipped instants around it.
        Twice = 2 "twice",
        /// What should be on record is not known.
        Unlooked = 3 "unlooked",
    }
}

words! {
    /// Why they do.
    pub enum GapReason: "reason" {
        /// Nothing accounts for it: an instant was lost or made up.
        Unexplained = 0 "unexplained",
        /// The job was edited: the new schedule begins behind what had been recorded ahead.
        Edited = 1 "edited",
        /// The job was disabled then.
        Disabled = 2 "disabled",
        /// The engine had paused it: they are recorded when it goes on.
        Paused = 3 "paused",
        /// The look-ahead has not come to them, or no node has worked the shard.
        NotPlanned = 4 "not_planned",
        /// The schedule had had all its fires.
        UsedUp = 5 "used_up",
        /// The records are older than what is kept.
        Pruned = 6 "pruned",
        /// The definition of that time cannot be planned.
        Unplannable = 7 "unplannable",
        /// The definition of that time is not on record.
        Unknown = 8 "unknown",
    }
}

impl GapReason {
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
