//! Why a run exists, in words.

use carillon_scheduler::Cause;

pub const fn cause_text(cause: Cause) -> &'static str {
    match cause {
        Cause::Schedule => "schedule",
        Cause::Manual => "by hand",
        Cause::Api => "API",
        Cause::Child => "child",
        Cause::Backfill => "backfill",
    }
}
