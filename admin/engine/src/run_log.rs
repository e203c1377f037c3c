//! The log of a run, read from its executor for the console and the API.

use carillon_scheduler::RunState;
use carillon_store::Actor;

use crate::executor::client::{self, LogAnswer};
use crate::manage::entry_points::Runs;
use crate::manage::error::Error;
use crate::recover::run_knowledge::says_no_log;

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

/// Lines of one answer: it has 4 MiB at most.
const MOST_LINES: i32 = 4 << 20;

impl Runs<'_> {
    /// The lines of a run's log from line `from` (1 is the first).
    ///
    /// # Errors
    /// `Missing`; `NoLog`, with the reason
    pub async fn log(&self, run_id: i64, from: i32, by: &Actor) -> Result<LogPage, Error> {
        let engine = self.engine;
        let run_id = self.run_id_of(run_id).await?;
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
        if run.is_http() {
            return match engine.cx.store.runs().http_log(run_id).await? {
                Some(text) => Ok(page_of(from, &text, run.state)),
                None if run.state == RunState::Sending => {
                    Ok(LogPage { from, to: from - 1, content: String::new(), end: false })
                }
                None => Err(Error::NoLog("no request was written, or the node that sent it has stored no log".into())),
            };
        }
        engine.directory.registered(app, address).map_err(|error| Error::NoLog(error.to_string()))?;
        let _turn = engine.log_turns.enter(app, by).await;
        let answer = engine.client.read_log(address, app, run_id, run.due_at, i64::from(from)).await;
        match answer {
            Ok(LogAnswer::Page(page)) => {
                // The lines are counted before: a secret may have several.
                let mut page = as_page(from, page, run.state);
                engine.hide_secrets(run_id, std::iter::once(&mut page.content)).await?;
                Ok(page)
            }
            Ok(LogAnswer::NoLog) => Err(Error::NoLog("this executor keeps no log".into())),
            // It has not begun to write; a run that goes on may still.
            Err(_) if run.state.is_open() => Ok(LogPage { from, to: from - 1, content: String::new(), end: false }),
            Err(why) => Err(Error::NoLog(format!("{address}: {why}"))),
        }
    }
}

/// The lines of a whole text.
fn page_of(from: i32, text: &str, state: RunState) -> LogPage {
    let skipped = usize::try_from(from - 1).unwrap_or_default();
    let content: String = text.split_inclusive('\n').skip(skipped).collect();
    let lines = i32::try_from(content.lines().count()).unwrap_or(i32::MAX);
    LogPage { from, to: (from - 1).saturating_add(lines), content, end: !state.is_open() }
}

/// Whether the executor says that the log ends counts only once the run has ended: some executors never say it, others always. Where
/// it is missing, the end is a page without new lines. An answer with other lines than the requested ones is dropped, as by xxl-job: some
/// executors send the same text in each answer. An executor's number of the last line may lag behind the text, so the lines are
/// counted; if it is ahead of the text, the next request starts behind that number. A text in place of a log that is not there is no line
/// of it: it is shown once, when the run has ended, and before that the first line may still come.
fn as_page(from: i32, page: client::LogPage, state: RunState) -> LogPage {
    let is_asked_for = page.from_line == i64::from(from) || from == 1 && page.from_line == 0;
    let is_new = page.to_line >= page.from_line || page.to_line == 0 && from == 1;
    let is_line = !says_no_log(&page.content) || from == 1 && !state.is_open();
    let content = if is_asked_for && is_new && is_line { page.content } else { String::new() };
    let lines = i32::try_from(content.lines().count()).unwrap_or(i32::MAX);
    let counted = (from - 1).saturating_add(lines);
    let said =
        i32::try_from(page.to_line).ok().filter(|to| lines > 0 && to.saturating_sub(from) < MOST_LINES).unwrap_or(0);
    LogPage { from, to: counted.max(said), end: !state.is_open() && (lines == 0 || page.is_end), content }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(to_line: i64, content: &str, is_end: bool) -> client::LogPage {
        client::LogPage { from_line: 5, to_line, content: content.into(), is_end }
    }

    // covers: V12.2
    #[test]
    fn a_page_at_the_last_number_a_line_can_have_is_no_overflow() {
        let (last, nothing) = (i32::MAX, i32::MAX - 1);
        for (to_line, to) in [(i32::MAX, last), (9, nothing), (i32::MIN, nothing), (0, nothing)] {
            let page = client::LogPage {
                from_line: i32::MAX.into(),
                to_line: to_line.into(),
                content: "a\nb\n".into(),
                is_end: true,
            };
            let at_the_end = as_page(i32::MAX, page, RunState::Running);
            assert_eq!((at_the_end.from, at_the_end.to), (i32::MAX, to), "{to_line}");
        }
    }

    // covers: R107
    #[test]
    fn only_lines_that_were_asked_for_are_taken_and_once() {
        let page = |from_line, to_line, content: &str| client::LogPage {
            from_line,
            to_line,
            content: content.into(),
            is_end: true,
        };
        let taken = |from, page| {
            let page = as_page(from, page, RunState::Running);
            (page.content, page.to)
        };
        assert_eq!(taken(1, page(1, 1, "a\nb\n")), ("a\nb\n".into(), 2), "its number lags behind");
        assert_eq!(taken(3, page(1, 1, "a\nb\n")), (String::new(), 2), "whatever is asked, from the first line on");
        assert_eq!(taken(1, page(1, 2, "constant")), ("constant".into(), 2), "the Go client");
        assert_eq!(taken(3, page(3, 2, "constant")), (String::new(), 2));
        assert_eq!(taken(1, page(1, 0, "logFile not exists")), ("logFile not exists".into(), 1), "Java without a file");
        assert_eq!(taken(2, page(2, 0, "logFile not exists")), (String::new(), 1));
        assert_eq!(taken(5, page(5, i64::MAX, "far")), ("far".into(), 5), "a number that no answer can reach");
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
