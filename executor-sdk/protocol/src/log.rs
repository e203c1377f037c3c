//! Reading the log of a run from its executor.

use serde::de::MapAccess;
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::members::{self, Members};
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

impl Members for LogRequest {
    const WHAT: &'static str = "a log request, which is a JSON object";

    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "logDateTim" | "logDateTime" => self.log_date_time = members::int64(map, name)?,
            "logId" => self.log_id = members::int64(map, name)?,
            "fromLineNum" => self.from_line = members::int64(map, name)?,
            _ => members::skip(map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for LogRequest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        members::read_object(from)
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

impl Members for LogPage {
    const WHAT: &'static str = "a log page, which is a JSON object";

    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "fromLineNum" => self.from_line = members::int64(map, name)?,
            "toLineNum" => self.to_line = members::int64(map, name)?,
            "logContent" => self.content = members::text(map)?.unwrap_or_default(),
            "isEnd" | "end" => self.is_end = members::boolean(map)?,
            _ => members::skip(map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for LogPage {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        members::read_object(from)
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
