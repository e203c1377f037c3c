//! What people do with a run: end it, set its outcome, read its log.

use carillon_scheduler::{AuditAction, FieldError, Outcome, RunEvent, RunState};
use carillon_store::run::settle::finding::SettleContext;
use carillon_store::{Actor, RunView};

use crate::complete::outcome_queue::finding;
use crate::engine::Engine;
use crate::executor::client::LogAnswer;
use crate::executor::run_killer::KillResult;
use crate::manage::error::Error;

/// Longest note on an outcome that is set by hand, in characters.
pub const NOTE_CHARS: usize = 500;

/// A piece of a run's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// Number of the first line asked for, from 1.
    pub from: i32,
    /// Number of the last line in `content`; below `from` if there is nothing new.
    pub to: i32,
    pub content: String,
    /// The run has ended and everything was read.
    pub end: bool,
}

/// Runs, as people act on them.
pub struct Runs<'a> {
    pub(super) engine: &'a Engine,
}

impl Runs<'_> {
    /// # Errors
    /// `Missing`
    pub async fn get(&self, id: i64) -> Result<RunView, Error> {
        self.engine.cx.store.run(id).await?.ok_or_else(|| Error::missing("run", id))
    }

    /// What is wrong with a note on an outcome.
    ///
    /// # Errors
    /// Names the member `note`.
    pub fn check_note(note: &str) -> Result<(), FieldError> {
        match (1..=NOTE_CHARS).contains(&note.trim().chars().count()) {
            true => Ok(()),
            false => Err(FieldError::new("note", format!("1 to {NOTE_CHARS} characters: how you know"))),
        }
    }

    /// Asks for the end of a run. A stock executor ends everything that it has of the same job.
    ///
    /// # Errors
    /// `Missing`; `Executor`: it cannot be asked, or refuses
    pub async fn kill(&self, run_id: i64, by: &Actor) -> Result<KillResult, Error> {
        let result = self.engine.killer.kill(run_id).await?;
        let detail = serde_json::json!({"outcome": result.as_str()});
        self.engine
            .cx
            .store
            .record_audit(by, AuditAction::Kill, ("run", run_id), detail, self.engine.cx.clock.now())
            .await?;
        Ok(result)
    }

    /// Sets the outcome of a run that is `unknown` or `lost`: a person's statement counts as evidence. The audit keeps who said
    /// it, and how they know.
    ///
    /// # Errors
    /// `Missing`; `Invalid`: the note; `NotOpen`
    pub async fn resolve(&self, run_id: i64, outcome: Outcome, note: &str, by: &Actor) -> Result<(), Error> {
        let engine = self.engine;
        let note = note.trim();
        Self::check_note(note).map_err(|error| Error::Invalid(vec![error]))?;
        let state = engine.killer.run_location(run_id).await?.state;
        if !matches!(state, RunState::Unknown | RunState::Lost) {
            return Err(Error::NotOpen(state));
        }
        // Before the outcome: an entry without its outcome does less harm than an outcome without its author.
        let word = if outcome == Outcome::Succeeded { "succeeded" } else { "failed" };
        let detail = serde_json::json!({"outcome": word, "note": note});
        let now = engine.cx.clock.now();
        engine.cx.store.record_audit(by, AuditAction::Resolve, ("run", run_id), detail, now).await?;

        let message = format!("resolved by hand: {note}");
        let findings = [finding(run_id, RunEvent::Reported(outcome), "operator", message)];
        let follow_up = SettleContext { now: engine.cx.clock.now(), jitter: rand::random(), restored: false };
        let settled = engine.cx.store.settle(&findings, &follow_up).await?;
        engine.services.completer.effects.apply(&findings, &settled);
        match settled.changed.is_empty() {
            // A report came first, or another person.
            true => Err(Error::NotOpen(engine.killer.run_location(run_id).await?.state)),
            false => Ok(()),
        }
    }

    /// The lines of a run's log from line `from` (1 is the first).
    ///
    /// # Errors
    /// `Missing`; `NoLog`, with the reason
    pub async fn log(&self, run_id: i64, from: i32) -> Result<LogPage, Error> {
        let engine = self.engine;
        let run = engine.killer.run_location(run_id).await?;
        let from = from.max(1);
        let (Some(address), Some(app)) = (&run.address, &run.app) else {
            return match run.state {
                RunState::Claimed | RunState::Sending => {
                    Ok(LogPage { from, to: from - 1, content: String::new(), end: false })
                }
                _ => Err(Error::NoLog("the run was never sent, so there is no log".into())),
            };
        };
        engine.directory.registered(app, address).map_err(|error| Error::NoLog(error.to_string()))?;
        let answer = engine.client.read_log(address, app, run_id, run.due_at, i64::from(from)).await;
        match answer {
            Ok(LogAnswer::Page(page)) => Ok(as_page(from, page, run.state)),
            Ok(LogAnswer::NoLog) => Err(Error::NoLog("this executor keeps no log".into())),
            // It has not begun to write; a run that goes on may still.
            Err(_) if run.state.is_open() => Ok(LogPage { from, to: from - 1, content: String::new(), end: false }),
            Err(why) => Err(Error::NoLog(format!("{address}: {why}"))),
        }
    }
}

/// Whether the executor says that the log ends counts only once the run has ended: some executors never say it, others always. Where
/// it is missing, the end is a page without new lines. Its line numbers may lag behind, so the lines are counted.
fn as_page(from: i32, page: crate::executor::client::LogPage, state: RunState) -> LogPage {
    let content = if page.to_line < page.from_line && page.to_line != 0 { String::new() } else { page.content };
    let lines = i32::try_from(content.lines().count()).unwrap_or(i32::MAX);
    LogPage {
        from,
        to: (from - 1).saturating_add(lines),
        end: !state.is_open() && (lines == 0 || page.is_end),
        content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(to_line: i64, content: &str, is_end: bool) -> crate::executor::client::LogPage {
        crate::executor::client::LogPage { from_line: 5, to_line, content: content.into(), is_end }
    }

    // covers: V12.2
    #[test]
    fn a_page_at_the_last_number_a_line_can_have_is_no_overflow() {
        let at_the_end = as_page(i32::MAX, page(9, "a\nb\n", true), RunState::Running);
        assert_eq!((at_the_end.from, at_the_end.to), (i32::MAX, i32::MAX));
    }

    #[test]
    fn the_end_of_a_log_is_decided_by_the_run() {
        let going_on = as_page(5, page(5, "five\n", true), RunState::Running);
        assert_eq!((going_on.to, going_on.end), (5, false), "pyxxl says `end` while the run goes on");
        let ended = |is_end| as_page(5, page(5, "five\n", is_end), RunState::Failed).end;
        assert!(ended(true), "everything was read");
        assert!(!ended(false), "there may be more");
        let nothing_new = as_page(5, page(4, "", true), RunState::Running);
        assert_eq!((nothing_new.to, nothing_new.end), (4, false));
        assert!(as_page(5, page(4, "", false), RunState::Succeeded).end, "Java never says it");
        assert!(as_page(5, page(0, "", false), RunState::Succeeded).end, "Java 3.x says line 0 for nothing new");
    }
}
