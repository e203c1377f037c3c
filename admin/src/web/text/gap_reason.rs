//! Why what is on record differs from what a schedule says, in words.

use carillon_inspect::audit::GapReason;

use crate::web::locale::{Language, Message};

pub fn gap_reason(language: Language, reason: GapReason) -> Message {
    language.text(match reason {
        GapReason::Unexplained => "gap-reason-unexplained",
        GapReason::Edited => "gap-reason-edited",
        GapReason::Disabled => "gap-reason-disabled",
        GapReason::Paused => "gap-reason-paused",
        GapReason::NotPlanned => "gap-reason-not-planned",
        GapReason::UsedUp => "gap-reason-used-up",
        GapReason::Pruned => "gap-reason-pruned",
        GapReason::Unplannable => "gap-reason-unplannable",
        GapReason::Unknown => "gap-reason-unknown",
    })
}
