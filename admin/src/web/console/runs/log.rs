//! The log of a run, read from its executor.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Path, Query};
use carillon_engine::manage::Error;
use carillon_engine::run_log::LogPage;
use carillon_store::{Actor, RunView};
use serde::{Deserialize, Serialize};

use crate::web::console::runs::log_line::LogLine;
use crate::web::locale::{Language, Message};
use crate::web::page::{PageContext, PageResult};
use crate::web::state::{Shared, State};

/// How long a page waits for an executor; the script asks again, and so does a reload.
const PATIENCE: Duration = Duration::from_millis(900);
/// How long the lines behind those of a page are counted.
const COUNTING: Duration = Duration::from_millis(1_000);
/// How long the way to the last line may take where it was asked for.
const COUNTING_TO_LAST: Duration = Duration::from_secs(15);
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

    /// Where the last page begins, as the address names it.
    pub fn last(&self) -> Option<String> {
        let line = self.total.map_or_else(|| LAST.to_owned(), |total| last_page(total).to_string());
        self.is_cut.then_some(line)
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

/// The word for the last page, in addresses.
const LAST: &str = "last";

fn last_page(total: i32) -> i32 {
    (total - SHOWN + 1).max(1)
}

/// The lines that a page shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct LogQuery {
    pub line: LogPlace,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum LogPlace {
    /// The last page, if its place is known at once; else the first.
    #[default]
    Newest,
    /// The last page, even if all before it must be read.
    Last,
    /// From this line on.
    From(i32),
}

impl TryFrom<String> for LogPlace {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match word.as_str() {
            LAST => Ok(Self::Last),
            line => line.parse().map(Self::From).map_err(|_| format!("line: “{line:.64}” is no number and not “last”")),
        }
    }
}

/// What the page of a run shows of its log.
pub async fn view(state: &State, context: &PageContext, run: &RunView, place: LogPlace) -> LogView {
    let first = view_from(state, context, run, if let LogPlace::From(line) = place { line.max(1) } else { 1 }).await;
    let (total, is_known) = match (place, first.total) {
        _ if !first.is_cut => return first,
        (LogPlace::From(_), _) | (LogPlace::Newest, None) => return first,
        (_, Some(total)) => (total, true),
        (LogPlace::Last, None) => {
            count_lines(state, (run.id, &context.actor), first.lines.next(), COUNTING_TO_LAST).await
        }
    };
    let last = view_from(state, context, run, last_page(total)).await;
    LogView { total: last.total.or(is_known.then_some(total)), ..last }
}

async fn view_from(state: &State, context: &PageContext, run: &RunView, from: i32) -> LogView {
    let looked = tokio::time::timeout(PATIENCE, read_page(state, context, run, from)).await;
    let Ok(Ok(lines)) = looked else {
        let note = context.language.text("log-no-answer").to_string();
        return LogView { lines: Lines { from, note, ..Lines::default() }, ..LogView::default() };
    };
    let total = match lines.end || lines.lines.len() <= SHOWN as usize {
        true => Some(lines.sent_to - 1),
        false => {
            let (to, is_known) = count_lines(state, (run.id, &context.actor), lines.sent_to, COUNTING).await;
            is_known.then_some(to)
        }
    };
    cut(lines, total)
}

/// Reads until there is no more by now, or one line more than a page.
async fn read_page(state: &State, context: &PageContext, run: &RunView, from: i32) -> Result<Lines, Error> {
    const MOST: usize = SHOWN as usize + 1;
    let mut lines = read(state, context, run, from, MOST).await?;
    let mut has_more = !lines.lines.is_empty();
    while has_more && !lines.end && lines.lines.len() < MOST {
        let more = read(state, context, run, lines.sent_to, MOST - lines.lines.len()).await?;
        has_more = !more.lines.is_empty();
        lines.end = more.end || !has_more && !run.state.is_open();
        lines.note.push_str(&more.note);
        lines.lines.extend(more.lines);
        lines.sent_to = more.sent_to;
    }
    Ok(lines)
}

/// The number of the last line by now, counted from this one on: an executor answers with as many lines as it likes. False: there may be
/// more, which cannot be read, or not in this time.
async fn count_lines(state: &State, (run_id, by): (i64, &Actor), from: i32, patience: Duration) -> (i32, bool) {
    let mut to = from - 1;
    let counting = async {
        loop {
            let page = state.engine.runs().log(run_id, to.saturating_add(1), by).await.ok()?;
            let is_end = page.to <= to || page.end;
            to = page.to.max(to);
            if is_end {
                return Some(());
            }
        }
    };
    let is_known = tokio::time::timeout(patience, counting).await.ok().flatten().is_some();
    (to, is_known)
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
async fn read(state: &State, context: &PageContext, run: &RunView, from: i32, most: usize) -> Result<Lines, Error> {
    match state.engine.runs().log(run.id, from, &context.actor).await {
        Ok(page) => Ok(lines(&page, context.language, run, most)),
        Err(Error::NoLog(why) | Error::Executor(why)) => Ok(Lines {
            from,
            sent_to: from,
            end: !run.state.is_open(),
            note: context
                .language
                .text(if from > 1 { "log-rest-unread" } else { "log-none" })
                .with("why", context.language.say(&why))
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
pub async fn following(state: Shared, context: PageContext, id: Path<i64>, query: Query<FollowQuery>) -> PageResult {
    let run = state.engine.runs().get(*id).await?;
    let mut lines = read(&state, &context, &run, query.from.max(1), AT_ONCE).await?;
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
        assert_eq!(places, (None, Some(1001), Some("1501".to_owned())));
        assert!(!first.lines.end, "the script goes on behind the page");
        let last = cut(lines(2001, 500), Some(2500));
        assert_eq!(place(&last), "Lines 2001–2500 of 2500");
        let places = (last.previous(), last.next(), last.last());
        assert_eq!(places, (Some(1001), None, None));
        assert!(cut(lines(1, 1000), Some(1000)).is_whole() && !last.is_whole());
        assert_eq!(place(&cut(lines(3001, 0), Some(3000))), "No lines from 3001 on");
        let uncounted = cut(lines(1, 1400), None);
        assert_eq!((place(&uncounted).as_str(), uncounted.last().as_deref()), ("Lines 1–1000", Some("last")));
        assert_eq!(LogPlace::try_from("17".to_owned()), Ok(LogPlace::From(17)));
        assert!(LogPlace::try_from("end".to_owned()).is_err_and(|error| error.contains("no number and not “last”")));
    }
}
