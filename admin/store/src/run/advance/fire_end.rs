//! What became of a fire: one rule for its children and for the workflow of which it is a node.

use carillon_scheduler::{Millis, RunState};
use sea_orm::FromQueryResult;

use crate::run::view::run_view::sentence;

/// Handed on at most, in bytes: what parameters may have.
const RESULT_LIMIT: usize = 65_536;

/// The columns of [`FireRun`].
pub(crate) const COLUMNS: &str =
    "fire_no, id, part, parts, attempt, state, reason, result_msg AS result, finished_at, kill_asked_at";

/// A run of a fire.
#[derive(Clone, Debug, FromQueryResult)]
pub(crate) struct FireRun {
    pub fire_no: i64,
    pub id: i64,
    pub part: i32,
    pub parts: i32,
    pub attempt: i32,
    /// A state of a newer version is none of ours.
    pub state: i16,
    pub reason: Option<String>,
    pub result: Option<String>,
    pub finished_at: Option<Millis>,
    pub kill_asked_at: Option<Millis>,
}

/// What became of a fire, by its runs: every part by any of its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FireEnd {
    /// Some of its runs are on their way; those whose end has not been asked for.
    Open {
        not_asked: Vec<i64>,
    },
    Succeeded {
        first_id: i64,
        result: Option<String>,
        ended_at: Option<Millis>,
    },
    /// Why, for people.
    Failed {
        why: String,
        ended_at: Option<Millis>,
    },
}

/// What became of one part of a fire, by its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartEnd {
    Open,
    Succeeded {
        result: Option<String>,
    },
    /// Why, for people.
    Failed {
        why: String,
    },
}

impl PartEnd {
    /// `attempts` are in their order.
    pub fn of(attempts: &[FireRun]) -> Self {
        if let Some(run) = attempts.iter().find(|run| run.state() == Some(RunState::Succeeded)) {
            return Self::Succeeded { result: run.result.clone() };
        }
        match attempts.last() {
            Some(last) if attempts.iter().all(|run| run.state().is_some_and(|state| !state.is_pending())) => {
                Self::Failed { why: why(last) }
            }
            _ => Self::Open,
        }
    }
}

impl FireRun {
    fn state(&self) -> Option<RunState> {
        RunState::from_code(self.state)
    }
}

impl FireEnd {
    /// `runs` are in the order of part and attempt.
    pub fn of(runs: &[FireRun]) -> Self {
        let open = || runs.iter().filter(|run| run.state().is_none_or(RunState::is_pending));
        let parts: Vec<&[FireRun]> = parts(runs).collect();
        let ended_at = runs.iter().filter_map(|run| run.finished_at).max();
        let is_first = |run: &FireRun| run.part == 0 && run.attempt == 1;
        // An attempt before the fire was split knows of one part.
        let count = runs.iter().map(|run| run.parts).max().unwrap_or(1).max(1) as usize;
        let is_whole = runs.first().is_some_and(is_first) && parts.len() == count;
        if is_whole && parts.iter().all(|part| has_succeeded(part)) {
            return Self::Succeeded { first_id: runs[0].id, result: result_of(&parts), ended_at };
        }
        if !is_whole || open().next().is_some() {
            let not_asked = open().filter(|run| run.kill_asked_at.is_none()).map(|run| run.id).collect();
            return Self::Open { not_asked };
        }
        let failed = not_succeeded(runs);
        // One that failed says more than one that was called off.
        let telling = |run: &&FireRun| run.state() != Some(RunState::Cancelled);
        let why = failed.clone().find(telling).or(failed.clone().next()).map(why).unwrap_or_default();
        Self::Failed { why, ended_at }
    }
}

impl FireEnd {
    /// The result of a fire that is a list of parts, also where the list has one.
    pub fn of_list(self, runs: &[FireRun]) -> Self {
        match self {
            Self::Succeeded { first_id, result, ended_at } if runs.iter().all(|run| run.parts <= 1) => {
                Self::Succeeded { first_id, result: Some(as_array(vec![result])), ended_at }
            }
            end => end,
        }
    }
}

fn parts(runs: &[FireRun]) -> impl Iterator<Item = &[FireRun]> + Clone {
    runs.chunk_by(|run, next| run.part == next.part)
}

fn has_succeeded(part: &[FireRun]) -> bool {
    part.iter().any(|run| run.state() == Some(RunState::Succeeded))
}

/// The last attempt of each part that has not succeeded. `runs` are in the order of part and attempt.
pub(crate) fn not_succeeded(runs: &[FireRun]) -> impl Iterator<Item = &FireRun> + Clone {
    parts(runs).filter(|part| !has_succeeded(part)).filter_map(<[FireRun]>::last)
}

/// What its executor said, or else what its reason means.
fn why(run: &FireRun) -> String {
    let said = run.result.as_deref().filter(|text| !text.trim().is_empty());
    let meant = || run.reason.as_deref().and_then(|reason| sentence(reason));
    let state = || run.state().map_or("", |state| state.as_str());
    said.or_else(meant).unwrap_or_else(state).to_owned()
}

/// Of one part its result, of several an array.
fn result_of(parts: &[&[FireRun]]) -> Option<String> {
    let result = |part: &&[FireRun]| {
        let mut succeeded = part.iter().filter(|run| run.state() == Some(RunState::Succeeded));
        succeeded.next().and_then(|run| run.result.clone())
    };
    let results: Vec<Option<String>> = parts.iter().map(result).collect();
    match <[_; 1]>::try_from(results) {
        Ok([only]) => only,
        Err(all) => Some(as_array(all)),
    }
}

/// The results of a broadcast in the order of its parts. Each is cut to its share of what parameters may have.
fn as_array(results: Vec<Option<String>>) -> String {
    let written = |results: &[Option<String>]| serde_json::to_string(results).unwrap_or_default();
    let whole = written(&results);
    if whole.len() <= RESULT_LIMIT {
        return whole;
    }
    // A sign may take six bytes in JSON.
    let share = RESULT_LIMIT / results.len() / 6;
    let cut = |text: String| text[..text.floor_char_boundary(share)].to_owned();
    let cut: Vec<Option<String>> = results.into_iter().map(|result| result.map(cut)).collect();
    written(&cut)
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::RunReason;

    use super::*;

    fn run(part: i32, attempt: i32, state: RunState, result: Option<&str>) -> FireRun {
        FireRun {
            fire_no: 1,
            id: i64::from(part * 10 + attempt),
            part,
            parts: 2,
            attempt,
            state: state.code(),
            reason: (state == RunState::Lost).then(|| RunReason::Lost.as_str().to_owned()),
            result: result.map(str::to_owned),
            finished_at: Some(100 + i64::from(attempt)),
            kill_asked_at: None,
        }
    }

    #[test]
    fn a_fire_has_succeeded_when_every_part_has_by_any_attempt() {
        use RunState::{Failed, Running, Succeeded};
        assert_eq!(FireEnd::of(&[]), FireEnd::Open { not_asked: vec![] });
        let half = [run(0, 1, Succeeded, Some("a"))];
        assert_eq!(FireEnd::of(&half), FireEnd::Open { not_asked: vec![] }, "its other part is not there yet");
        let split_later = [FireRun { parts: 1, ..run(0, 1, Failed, None) }, run(0, 2, Succeeded, None)];
        assert_eq!(FireEnd::of(&split_later), FireEnd::Open { not_asked: vec![] }, "nor is that of the second attempt");
        let open = [run(0, 1, Succeeded, Some("a")), run(1, 1, Failed, None), run(1, 2, Running, None)];
        assert_eq!(FireEnd::of(&open), FireEnd::Open { not_asked: vec![12] });
        let done = [run(0, 1, Succeeded, Some("a")), run(1, 1, Failed, None), run(1, 2, Succeeded, Some("\"b\""))];
        let result = Some("[\"a\",\"\\\"b\\\"\"]".to_owned());
        assert_eq!(FireEnd::of(&done), FireEnd::Succeeded { first_id: 1, result, ended_at: Some(102) });
    }

    #[test]
    fn a_fire_has_failed_when_no_part_is_open_and_one_has_not_succeeded() {
        use RunState::{Cancelled, Failed, Lost, Succeeded};
        let failed = |runs: &[FireRun]| match FireEnd::of(runs) {
            FireEnd::Failed { why, .. } => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(failed(&[run(0, 1, Cancelled, Some("off")), run(1, 1, Failed, Some("disk full"))]), "disk full");
        assert_eq!(
            failed(&[run(0, 1, Succeeded, None), run(1, 1, Lost, None)]),
            "Its executor went away while it ran."
        );
    }

    #[test]
    fn what_is_handed_on_is_no_longer_than_parameters() {
        let long = as_array(vec![Some("é\u{1}".repeat(40_000)), None, Some("ok".into())]);
        assert!(long.len() <= RESULT_LIMIT && long.ends_with("null,\"ok\"]"), "{}", long.len());
    }
}
