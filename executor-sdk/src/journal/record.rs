//! The journal's lines, readable by people:
//!
//! ```text
//! A <run> <due_at> <attempt> <fire key or ->        accepted
//! R <run> <code> <result text as JSON, or null>     result
//! K <run> <run> …                                   an admin has the results
//! ```

use std::fmt::Write;

use carillon_protocol::CallbackItem;

/// A line of the journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Accepted { log_id: i64, due_at: i64, attempt: u32, fire_key: Option<String> },
    Result { log_id: i64, code: i32, message: Option<String> },
    Acknowledged(Vec<i64>),
}

impl Record {
    /// The run of the line; `None` for a list of runs.
    pub(crate) fn log_id(&self) -> Option<i64> {
        match self {
            Self::Accepted { log_id, .. } | Self::Result { log_id, .. } => Some(*log_id),
            Self::Acknowledged(_) => None,
        }
    }

    /// Appends the line with its line end.
    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Self::Accepted { log_id, due_at, attempt, fire_key } => {
                write_accepted(out, *log_id, *due_at, *attempt, fire_key.as_deref());
            }
            Self::Result { log_id, code, message } => write_result(out, *log_id, *code, message.as_deref()),
            Self::Acknowledged(ids) => write_acknowledged(out, ids),
        }
    }

    /// Reads a line without its line end; `None` if it is incomplete or unknown.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (kind, rest) = line.split_once(' ')?;
        match kind {
            "A" => {
                let mut parts = rest.splitn(4, ' ');
                Some(Self::Accepted {
                    log_id: parts.next()?.parse().ok()?,
                    due_at: parts.next()?.parse().ok()?,
                    attempt: parts.next()?.parse().ok()?,
                    fire_key: Some(parts.next()?).filter(|key| *key != "-").map(str::to_owned),
                })
            }
            "R" => {
                let mut parts = rest.splitn(3, ' ');
                Some(Self::Result {
                    log_id: parts.next()?.parse().ok()?,
                    code: parts.next()?.parse().ok()?,
                    message: serde_json::from_str(parts.next()?).ok()?,
                })
            }
            "K" => {
                let ids: Result<_, _> = rest.split(' ').map(str::parse).collect();
                ids.ok().map(Self::Acknowledged)
            }
            _ => None,
        }
    }
}

/// Appends the line of an accepted run.
pub(crate) fn write_accepted(out: &mut String, log_id: i64, due_at: i64, attempt: u32, fire_key: Option<&str>) {
    let key = fire_key.unwrap_or("-");
    let _ = writeln!(out, "A {log_id} {due_at} {attempt} {key}");
}

/// Appends the line of a result.
pub(crate) fn write_result_of(out: &mut String, item: &CallbackItem) {
    write_result(out, item.log_id, item.code, item.message.as_deref());
}

/// Appends the line of acknowledged runs.
pub(crate) fn write_acknowledged(out: &mut String, ids: &[i64]) {
    out.push('K');
    for id in ids {
        let _ = write!(out, " {id}");
    }
    out.push('\n');
}

fn write_result(out: &mut String, log_id: i64, code: i32, message: Option<&str>) {
    let message = message.map_or_else(|| "null".to_owned(), |text| serde_json::Value::from(text).to_string());
    let _ = writeln!(out, "R {log_id} {code} {message}");
}

#[cfg(test)]
mod tests {
    use super::Record;

    #[test]
    fn lines_survive_writing_and_reading() {
        let records = [
            Record::Accepted { log_id: 7, due_at: 1_790_000_000_000, attempt: 2, fire_key: Some("1:0:9:0".into()) },
            Record::Accepted { log_id: 8, due_at: 0, attempt: 1, fire_key: None },
            Record::Result { log_id: 7, code: 500, message: Some("two\nlines \"q\" ß".into()) },
            Record::Result { log_id: 8, code: 200, message: None },
            Record::Acknowledged(vec![7, 8]),
        ];
        for record in records {
            let mut text = String::new();
            record.write(&mut text);
            let line = text.strip_suffix('\n').unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(Record::parse(line), Some(record), "{line}");
        }
    }

    #[test]
    fn incomplete_and_unknown_lines_are_not_records() {
        for line in ["", "A", "A 7", "A 7 1 1", "R 7 200 \"cut", "K 7 x", "X 1", "A x 1 1 -"] {
            assert_eq!(Record::parse(line), None, "{line}");
        }
    }
}
