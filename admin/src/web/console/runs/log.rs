//! The log of a run, read from its executor.

use std::time::Duration;

use actix_web::{HttpResponse, web};
use carillon_engine::manage::Error;
use carillon_engine::run_log::LogPage;
use carillon_store::RunView;
use serde::{Deserialize, Serialize};

use crate::web::console::runs::log_line::LogLine;
use crate::web::locale::{Language, Message};
use crate::web::page::{PageContext, PageResult};
use crate::web::state::{Shared, State};

/// How long a page waits for an executor; the script asks again, and so does a reload.
const PATIENCE: Duration = Duration::from_millis(900);
/// How long the lines behind those of a page are counted.
const COUNTING: Duration = Duration::from_millis(1_000);
/// Lines on a page. The script fetches the rest; without it there are links to further pages.
const SHOWN: i32 = 1_000;
/// Lines that the script gets at once: some executors send all that they have.
const AT_ONCE: usize = 10_000;

/// Some lines of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    /// Number of the first line, from 1.
    pub from: i32,
    pub lines: Vec<LogLine>,
    /// Nothing more will come.
    pub end: bool,
    /// Why there are no lines; empty if there is nothing to say.
    pub note: String,
    /// Number of the line to ask for next: after all that the executor sent, of which these may be the first.
    #[serde(rename = "next")]
    pub sent_to: i32,
}

impl Lines {
    pub fn next(&self) -> i32 {
        let lines = i32::try_from(self.lines.len()).unwrap_or(i32::MAX);
        self.from.saturating_add(lines)
    }

    /// The lines with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (i32, &LogLine)> {
        (self.from..).zip(&self.lines)
    }
}

/// The lines on the page of a run, and where the others are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogView {
    pub lines: Lines,
    /// How many lines there are by now; None: not known.
    pub total: Option<i32>,
    /// Whether there are lines after these.
    pub is_cut: bool,
}

impl LogView {
    /// Whether these are all lines.
    pub fn is_whole(&self) -> bool {
        self.lines.from <= 1 && !self.is_cut
    }

    pub fn previous(&self) -> Option<i32> {
        (self.lines.from > 1).then(|| (self.lines.from - SHOWN).max(1))
    }

    pub fn next(&self) -> Option<i32> {
        self.is_cut.then(|| self.lines.next())
    }

    /// Where the last page begins.
    pub fn last(&self) -> Option<i32> {
        let total = self.total.filter(|_| self.is_cut)?;
        Some((total - 1) / SHOWN * SHOWN + 1)
    }

    /// `Lines 1–1000 of 2000`
    pub fn place(&self, language: Language) -> Message {
        let (from, to) = (self.lines.from, self.lines.next() - 1);
        match self.total {
            _ if self.lines.lines.is_empty() => language.text("log-no-lines").with("from", from),
            None => language.text("log-lines").with("from", from).with("to", to),
            Some(all) => language.text("log-lines-of").with("from", from).with("to", to).with("all", all),
        }
    }
}

/// The lines that a page shows.
#[derive(Debug, Default, Deserialize)]
pub struct LogQuery {
    /// The first of them.
    #[serde(default)]
    pub line: i32,
}

/// What the page of a run shows of its log.
pub async fn view(state: &State, language: Language, run: &RunView, from: i32) -> LogView {
    let from = from.max(1);
    let looked = tokio::time::timeout(PATIENCE, read_page(state, language, run, from)).await;
    let Ok(Ok(lines)) = looked else {
        let note = language.text("log-no-answer").to_string();
        return LogView { lines: Lines { from, note, ..Lines::default() }, ..LogView::default() };
    };
    let total = match lines.end || lines.lines.len() <= SHOWN as usize {
        true => Some(lines.sent_to - 1),
        false => tokio::time::timeout(COUNTING, last_line(state, run.id, lines.sent_to)).await.ok().flatten(),
    };
    cut(lines, total)
}

/// Reads until there is no more by now, or one line more than a page.
async fn read_page(state: &State, language: Language, run: &RunView, from: i32) -> Result<Lines, Error> {
    const MOST: usize = SHOWN as usize + 1;
    let mut lines = read(state, language, run, from, MOST).await?;
    let mut has_more = !lines.lines.is_empty();
    while has_more && !lines.end && lines.lines.len() < MOST {
        let more = read(state, language, run, lines.sent_to, MOST - lines.lines.len()).await?;
        has_more = !more.lines.is_empty();
        lines.end = more.end || !has_more && !run.state.is_open();
        lines.note.push_str(&more.note);
        lines.lines.extend(more.lines);
        lines.sent_to = more.sent_to;
    }
    Ok(lines)
}

/// The number of the last line by now, counted from this one on: an executor answers with as many lines as it likes. None: the rest
/// cannot be read.
async fn last_line(state: &State, run_id: i64, mut from: i32) -> Option<i32> {
    loop {
        let page = state.engine.runs().log(run_id, from).await.ok()?;
        if page.to < from || page.end {
            return Some(page.to.max(from - 1));
        }
        from = page.to.saturating_add(1);
    }
}

/// The first page of the lines that were read. `total`: the number of lines of the whole log, if it is known.
fn cut(mut lines: Lines, total: Option<i32>) -> LogView {
    let read = lines.lines.len();
    lines.lines.truncate(SHOWN as usize);
    let is_cut = read > lines.lines.len();
    lines.end &= !is_cut;
    let total = total.filter(|total| *total >= lines.from);
    LogView { total, is_cut: is_cut && !lines.lines.is_empty(), lines }
}

/// At most `most` lines.
async fn read(state: &State, language: Language, run: &RunView, from: i32, most: usize) -> Result<Lines, Error> {
    match state.engine.runs().log(run.id, from).await {
        Ok(page) => Ok(lines(&page, language, run, most)),
        Err(Error::NoLog(why) | Error::Executor(why)) => Ok(Lines {
            from,
            sent_to: from,
            end: !run.state.is_open(),
            note: language
                .text(if from > 1 { "log-rest-unread" } else { "log-none" })
                .with("why", language.say(&why))
                .to_string(),
            lines: vec![],
        }),
        Err(error) => Err(error),
    }
}

/// Only the lines that are wanted are built: an answer of 4 MiB may hold two million of them, each of which takes a hundred times the
/// memory of its text.
fn lines(page: &LogPage, language: Language, run: &RunView, most: usize) -> Lines {
    let lines: Vec<LogLine> = page.content.lines().take(most).map(LogLine::new).collect();
    let note = match (lines.is_empty() && page.from <= 1, run.state.is_open()) {
        (true, true) if run.sent_at.is_none() => language.text("log-not-begun").to_string(),
        (true, true) => language.text("log-empty-yet").to_string(),
        (true, false) if page.end => language.text("log-empty").to_string(),
        _ => String::new(),
    };
    Lines { from: page.from, end: page.end, note, lines, sent_to: page.to.saturating_add(1) }
}

/// The executor sent more lines than the script gets at once.
fn page_is_cut(lines: &Lines) -> bool {
    lines.lines.len() == AT_ONCE && lines.sent_to > lines.next()
}

#[derive(Deserialize)]
pub struct FollowQuery {
    #[serde(default)]
    from: i32,
}

/// `GET /runs/{id}/log?from=`: for the script.
pub async fn following(
    state: Shared,
    context: PageContext,
    id: web::Path<i64>,
    query: web::Query<FollowQuery>,
) -> PageResult {
    let run = state.engine.runs().get(*id).await?;
    let mut lines = read(&state, context.language, &run, query.from.max(1), AT_ONCE).await?;
    if page_is_cut(&lines) {
        (lines.end, lines.sent_to) = (false, lines.next());
    }
    Ok(HttpResponse::Ok().json(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: A8
    #[test]
    fn a_long_log_is_divided_into_pages() {
        let lines = |from: i32, count: usize| Lines {
            from,
            lines: vec![LogLine::default(); count],
            end: true,
            note: String::new(),
            sent_to: 0,
        };
        let first = cut(lines(1, 2500), Some(2500));
        let place = |view: &LogView| view.place(Language::English).to_string();
        assert_eq!(place(&first), "Lines 1–1000 of 2500");
        let places = (first.previous(), first.next(), first.last());
        assert_eq!(places, (None, Some(1001), Some(2001)));
        assert!(!first.lines.end, "the script goes on behind the page");
        let last = cut(lines(2001, 500), Some(2500));
        assert_eq!(place(&last), "Lines 2001–2500 of 2500");
        let places = (last.previous(), last.next(), last.last());
        assert_eq!(places, (Some(1001), None, None));
        assert!(cut(lines(1, 1000), Some(1000)).is_whole() && !last.is_whole());
        assert_eq!(place(&cut(lines(3001, 0), Some(3000))), "No lines from 3001 on");
        let uncounted = cut(lines(1, 1400), None);
        assert_eq!((place(&uncounted).as_str(), uncounted.last()), ("Lines 1–1000", None));
    }
}
