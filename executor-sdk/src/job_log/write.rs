//! Writing a run's log.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use carillon_protocol::RunRequest;
use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use super::job_logs::JobLogs;
use crate::run::wall_clock;

/// Size at which a run's log ends.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// A longer line is broken into several, so that a page of whole lines holds at least one.
const MAX_LINE_BYTES: usize = 64 << 10;
const FULL: &str = "truncated: the folder of logs is full\n";
const TRUNCATED: &str = "truncated: the log of a run ends at 16 MiB\n";

/// The log of one run.
pub(crate) struct RunLog {
    sink: Sink,
    due_at: i64,
    log_id: i64,
    handler: String,
    state: Mutex<State>,
}

/// Where lines go.
enum Sink {
    Files(JobLogs),
    Stdout,
    /// To `tracing`, as events of the level debug.
    Events,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    length: u64,
    /// No more is written: the log is full, or a write failed.
    ended: bool,
}

impl JobLogs {
    /// The log of a run; its file is created by the first write.
    pub(crate) fn open(&self, request: &RunRequest) -> RunLog {
        RunLog::new(Sink::Files(self.clone()), request)
    }
}

impl RunLog {
    /// A log on standard output, for tests of handlers.
    pub(crate) fn to_stdout(request: &RunRequest) -> Self {
        Self::new(Sink::Stdout, request)
    }

    /// The log of a call that is not recorded by itself.
    pub(crate) fn to_events(request: &RunRequest) -> Self {
        Self::new(Sink::Events, request)
    }

    fn new(sink: Sink, request: &RunRequest) -> Self {
        let (due_at, log_id, handler) = (request.log_date_time, request.log_id, request.handler.clone());
        Self { sink, due_at, log_id, handler, state: Mutex::default() }
    }

    /// Appends a text as one or more lines, in one write.
    pub(crate) fn write(&self, text: &str) {
        if matches!(self.sink, Sink::Events) {
            tracing::debug!(handler = self.handler, "{text}");
            return;
        }
        let mut state = self.state.lock();
        if state.ended {
            return;
        }
        let stamp = DateTime::from_timestamp_millis(wall_clock::now_ms()).unwrap_or_default();
        let mut lines = head(stamp, &self.handler);
        push_visible(&mut lines, text);
        let Sink::Files(logs) = &self.sink else {
            print!("{lines}");
            return;
        };
        if state.length + lines.len() as u64 > MAX_FILE_BYTES {
            TRUNCATED.clone_into(&mut lines);
            state.ended = true;
        } else if !logs.quota.take(state.length, lines.len() as u64) {
            FULL.clone_into(&mut lines);
            state.ended = true;
        }
        if let Err(error) = self.append(logs, &mut state, &lines) {
            state.ended = true;
            tracing::warn!(%error, "a run's log cannot be written");
        }
    }

    fn append(&self, logs: &JobLogs, state: &mut State, lines: &str) -> io::Result<()> {
        let file = match &mut state.file {
            Some(file) => file,
            None => {
                let path = logs.path(self.due_at, self.log_id);
                let file = create(logs, &path.ok_or(io::ErrorKind::InvalidInput)?)?;
                // Run ids are never reused, but a file may be left over from a lost journal.
                state.length = file.metadata()?.len();
                state.file.insert(file)
            }
        };
        file.write_all(lines.as_bytes())?;
        state.length += lines.len() as u64;
        Ok(())
    }
}

fn create(logs: &JobLogs, path: &Path) -> io::Result<File> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let file = OpenOptions::new().append(true).create(true).open(path)?;
    if logs.contains(path)? { Ok(file) } else { Err(io::Error::other("the path leaves the folder of logs")) }
}

/// With what a line begins. A script has no handler.
fn head(stamp: DateTime<Utc>, handler: &str) -> String {
    let stamp = stamp.format("%Y-%m-%d %H:%M:%S");
    if handler.is_empty() { format!("{stamp} ") } else { format!("{stamp} [{handler}] ") }
}

/// Appends a text with a line end. Control characters except tab are escaped, over-long lines are broken.
fn push_visible(out: &mut String, text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let mut line = 0;
    for char in text.chars() {
        if line >= MAX_LINE_BYTES {
            out.push('\n');
            line = 0;
        }
        let before = out.len();
        match char {
            '\n' => out.push('\n'),
            '\r' => {}
            '\t' => out.push('\t'),
            char if char.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(char));
            }
            char => out.push(char),
        }
        line = if char == '\n' { 0 } else { line + out.len() - before };
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(text: &str) -> String {
        let mut out = String::new();
        push_visible(&mut out, text);
        out
    }

    #[test]
    fn control_characters_are_shown_and_lines_kept() {
        assert_eq!(visible("a\tb\x1b[31mc\0"), "a\tb\\x1b[31mc\\x00\n");
        assert_eq!(visible("one\r\ntwo\n"), "one\ntwo\n");
        assert_eq!(visible(""), "\n");
        assert_eq!(visible("\u{9b}"), "\\x9b\n");
    }

    #[test]
    fn a_line_of_a_script_has_no_handler() {
        let stamp = DateTime::from_timestamp_millis(1_760_000_000_000).unwrap();
        assert_eq!(head(stamp, "closeDay"), "2025-10-09 08:53:20 [closeDay] ");
        assert_eq!(head(stamp, ""), "2025-10-09 08:53:20 ");
    }

    #[test]
    fn over_long_lines_are_broken() {
        let text = visible(&"x".repeat(MAX_LINE_BYTES + 1));
        let lengths: Vec<_> = text.lines().map(str::len).collect();
        assert_eq!(lengths, [MAX_LINE_BYTES, 1]);
    }
}
