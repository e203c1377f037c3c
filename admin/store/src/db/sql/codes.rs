//! The numbers and words of our enums inside SQL: `{state.claimed}`, `{cause.schedule}`, `{alarm.stuck}`, `{reason.overlap}`,
//! `{follow.chain}`.
//!
//! They are literals and no parameters, because a partial index is used only by a statement that repeats its condition.

use carillon_scheduler::{AlarmKind, AuditAction, Cause, RunReason, RunState};

use crate::run::follow;

/// The literal of a mark; None: it is none of ours.
pub fn literal(mark: &str) -> Option<String> {
    let (set, word) = mark.split_once('.')?;
    Some(match set {
        "state" => match word {
            // The states below are open: the condition of the index `run_open`.
            "final" => RunState::Succeeded.code().to_string(),
            "pending" => list(RunState::is_pending),
            "open" => list(RunState::is_open),
            word => word.parse::<RunState>().ok()?.code().to_string(),
        },
        "cause" => word.parse::<Cause>().ok()?.code().to_string(),
        "alarm" => quoted(word.parse::<AlarmKind>().ok()?.as_str()),
        "action" => quoted(word.parse::<AuditAction>().ok()?.as_str()),
        "follow" => follow::bits(word)?.to_string(),
        "reason" => quoted(word.parse::<RunReason>().ok()?.as_str()),
        _ => return None,
    })
}

fn list(is_in: fn(RunState) -> bool) -> String {
    let codes: Vec<String> =
        RunState::ALL.iter().filter(|state| is_in(**state)).map(|it| it.code().to_string()).collect();
    codes.join(", ")
}

fn quoted(word: &str) -> String {
    format!("'{word}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_written_as_the_indexes_have_them() {
        assert_eq!(literal("state.claimed").as_deref(), Some("0"));
        assert_eq!(literal("state.final").as_deref(), Some("9"));
        assert_eq!(literal("state.pending").as_deref(), Some("0, 1, 2"));
        assert_eq!(literal("alarm.stuck").as_deref(), Some("'stuck'"));
        assert_eq!(literal("state.none"), None);
    }
}
