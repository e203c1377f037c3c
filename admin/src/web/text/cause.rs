//! Why a run exists, in words.

use carillon_scheduler::Cause;

use crate::web::locale::{Language, Message};

pub fn cause_text(language: Language, cause: Cause) -> Message {
    language.text(match cause {
        Cause::Schedule => "cause-schedule",
        Cause::Manual => "by-hand",
        Cause::Api => "cause-api",
        Cause::Child => "cause-child",
        Cause::Backfill => "cause-backfill",
    })
}
