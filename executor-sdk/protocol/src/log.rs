//! Reading the log of a run from its executor.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::Value;

use crate::lenient::start_of_text;
use crate::members::{self, members};
use crate::verdict::{Verdict, parse_answer};

/// Body of `POST /log`. The instant is written under both of its names, which every known executor accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogRequest {
    /// `logDateTime` of the run's `/run` request, UTC epoch milliseconds, exactly: Java finds the file by its day.
    pub log_date_time: i64,
    /// The run.
    pub log_id: i64,
    /// First requested line, from 1; 0 counts as 1.
    pub from_line: i64,
}

impl Serialize for LogRequest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_struct("LogRequest", 4)?;
        object.serialize_field("logDateTim", &self.log_date_time)?;
        object.serialize_field("logDateTime", &self.log_date_time)?;
        object.serialize_field("logId", &self.log_id)?;
        object.serialize_field("fromLineNum", &self.from_line)?;
        object.end()
    }
}

members! {
    LogRequest: "a log request, which is a JSON object" {
        "logDateTim" | "logDateTime" => log_date_time: int64,
        "logId" => log_id: int64,
        "fromLineNum" => from_line: int64,
    }
}

/// A page of a run's log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogPage {
    /// Number of the first line, as requested.
    #[serde(rename = "fromLineNum")]
    pub from_line: i64,
    /// Number of the last line; below `from_line` if there is no new line (some executors send 0, or always 1).
    #[serde(rename = "toLineNum")]
    pub to_line: i64,
    /// The lines, each ended by `\n`.
    #[serde(rename = "logContent")]
    pub content: String,
    /// Whether the log ends here. Not reliable: Java never sends true, others always, or while the run is still running.
    #[serde(rename = "isEnd")]
    pub is_end: bool,
}

impl From<LogPage> for Value {
    fn from(page: LogPage) -> Self {
        serde_json::json!({
            "fromLineNum": page.from_line,
            "toLineNum": page.to_line,
            "logContent": page.content,
            "isEnd": page.is_end,
        })
    }
}

members! {
    LogPage: "a log page, which is a JSON object" {
        "fromLineNum" => from_line: int64,
        "toLineNum" => to_line: int64,
        "logContent" => content: text,
        "isEnd" | "end" => is_end: boolean,
    }
}

/// The answer to `/log`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogAnswer {
    /// Lines, perhaps none.
    Page(LogPage),
    /// The executor accepted the request without a page: it keeps no log.
    NoLog,
}

/// Parses the body of an answer to `/log` (HTTP 200): the page is in `content` or in `data`.
///
/// # Errors
/// The executor's refusal, or the unexpected answer.
pub fn parse_log_page(body: &[u8]) -> Result<LogAnswer, String> {
    match parse_answer(200, body) {
        Verdict::Accepted { content: None, .. } => Ok(LogAnswer::NoLog),
        Verdict::Accepted { content: Some(content), .. } => members::parse(content.as_bytes()).map(LogAnswer::Page),
        Verdict::Refused { message, .. } => Err(message),
        Verdict::Unclear { why } => Err(why),
    }
}

/// The lines of an answer of which only the start was read, as a page that begins at line `from`: stock executors send the whole rest
/// of a log at once. Where not even one line is whole, the page is the start of that line with a note. `None`: there is no line.
pub fn parse_cut_log_page(body: &[u8], from: i64) -> Option<LogPage> {
    let text = String::from_utf8_lossy(body);
    let (_, rest) = text.split_once("\"logContent\"")?;
    let content = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let content = match last_line_end(content) {
        Some(end) => start_of_text(&content[..end]),
        None => {
            // A character takes at most twelve bytes, as two escapes.
            let start = start_of_text(&content[..content.floor_char_boundary(12 * CUT_LINE_CHARS)]);
            let shown: String = start.chars().take(CUT_LINE_CHARS).collect();
            (!shown.is_empty()).then(|| format!("{shown}… [this line is longer than {} MiB]\n", body.len() >> 20))?
        }
    };
    Some(LogPage { from_line: from, to_line: from, content, is_end: false })
}

/// Characters that are shown of a line that is longer than an answer may be.
const CUT_LINE_CHARS: usize = 10_000;

/// Where the last `\n` of a JSON text ends, whose own end may be missing.
fn last_line_end(text: &str) -> Option<usize> {
    let (mut found, mut is_escaped) = (None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (is_escaped, byte) {
            (false, b'"') => break,
            (true, b'n') | (false, b'\n') => found = Some(at + 1),
            _ => {}
        }
        is_escaped = !is_escaped && byte == b'\\';
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(body: &str) -> Option<String> {
        parse_cut_log_page(body.as_bytes(), 7).map(|page| page.content)
    }

    #[test]
    fn whole_lines_are_taken_and_the_last_piece_is_left() {
        let begin = r#"{"code":200,"msg":null,"content":{"fromLineNum":7,"toLineNum":9,"logContent" : ""#;
        let cases = [
            (r"one\ntwo\nthr", "one\ntwo\n"),
            (r#"a \"quoted\"\\n word\nn"#, "a \"quoted\"\\n word\n"),
            (r"one\ntwo\\", "one\n"),
            (r"one\n\u00e9\ncut \u00", "one\né\n"),
            (r#"one\ntwo","isEnd":fal\n"#, "one\n"),
            ("a\tb\\n\\udce9\\n", "a\tb\n\u{fffd}\n"),
        ];
        for (content, whole) in cases {
            assert_eq!(lines(&format!("{begin}{content}")).as_deref(), Some(whole), "{content}");
        }
        for other in ["", "{\"code\":200", "{\"logContent\":null", "{\"logContent\""] {
            assert_eq!(lines(other), None, "{other}");
        }
    }

    // covers: R108
    #[test]
    fn a_line_that_is_longer_than_an_answer_is_cut_with_a_note() {
        let body = format!("{{\"logContent\":\"{}", "x".repeat(5 << 20));
        let line = lines(&body).unwrap();
        assert!(line.starts_with("xxx") && line.ends_with("… [this line is longer than 5 MiB]\n"), "{}", line.len());
        assert!(line.len() < 11_000);
    }
}
