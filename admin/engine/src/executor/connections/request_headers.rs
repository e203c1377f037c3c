//! The headers of a request to an executor, in the form in which they are written.

use std::fmt::{self, Write as _};
use std::ops::Range;

use carillon_protocol::headers;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

/// Has no `Debug`: one of the headers is the token.
pub(crate) struct RequestHeaders {
    /// `name: value` and a line end, for each.
    lines: String,
    /// The names, and where their values are in `lines`.
    values: Vec<(&'static str, Range<usize>)>,
}

impl RequestHeaders {
    /// Room for the headers of a run.
    pub(crate) fn new() -> Self {
        Self { lines: String::with_capacity(384), values: Vec::with_capacity(10) }
    }

    /// Adds a header; each name is added once.
    ///
    /// # Errors
    /// A header cannot have this value, for example because it has a line end.
    pub(crate) fn add(&mut self, name: &'static str, value: impl fmt::Display) -> Result<(), String> {
        let start = self.lines.len();
        self.lines.push_str(name);
        self.lines.push_str(": ");
        let from = self.lines.len();
        write!(self.lines, "{value}").map_err(|error| error.to_string())?;
        if let Err(why) = check_value(&self.lines[from..]) {
            self.lines.truncate(start);
            return Err(format!("the header {name}: {why}"));
        }
        self.values.push((name, from..self.lines.len()));
        self.lines.push_str("\r\n");
        Ok(())
    }

    /// As they are written, with a line end behind each.
    pub(super) fn lines(&self) -> &str {
        &self.lines
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.values.iter().map(|(name, value)| (*name, &self.lines.as_bytes()[value.clone()]))
    }

    /// The same for reqwest, with the type of the body.
    ///
    /// # Errors
    /// None: names and values were checked.
    pub(crate) fn to_map(&self) -> Result<HeaderMap, String> {
        let mut map = HeaderMap::with_capacity(self.values.len() + 1);
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in self.iter() {
            let mut value = HeaderValue::from_bytes(value).map_err(|error| error.to_string())?;
            value.set_sensitive(name == headers::TOKEN || name == headers::SIGNATURE);
            map.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?, value);
        }
        Ok(map)
    }
}

/// # Errors
/// The text has characters that the value of a header cannot have. It does not quote them: the text may be a secret.
pub(crate) fn check_value(text: &str) -> Result<(), String> {
    match text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        true => Ok(()),
        false => Err("only printable ASCII characters can be sent in a header".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines() {
        let mut headers = RequestHeaders::new();
        headers.add(headers::APP, "orders").unwrap();
        headers.add(headers::ATTEMPT, 2).unwrap();
        assert_eq!(headers.lines(), "XXL-JOB-APPNAME: orders\r\nCarillon-Attempt: 2\r\n");
        let all: Vec<_> = headers.iter().collect();
        assert_eq!(all, [(headers::APP, &b"orders"[..]), (headers::ATTEMPT, &b"2"[..])]);
    }

    #[test]
    fn a_value_cannot_begin_another_header() {
        let mut headers = RequestHeaders::new();
        for value in ["a\r\nXXL-JOB-ACCESS-TOKEN: b", "a\nb", "a\0b", "é", "\u{7f}"] {
            let why = headers.add(headers::APP, value).unwrap_err();
            assert_eq!(why, "the header XXL-JOB-APPNAME: only printable ASCII characters can be sent in a header");
        }
        assert_eq!(headers.lines(), "");
        assert_eq!(headers.iter().count(), 0);
    }

    #[test]
    fn secrets_are_marked_for_reqwest() {
        let mut headers = RequestHeaders::new();
        headers.add(headers::TOKEN, "a-token-of-a-test").unwrap();
        headers.add(headers::APP, "orders").unwrap();
        let map = headers.to_map().unwrap();
        assert_eq!(map["content-type"], "application/json");
        assert!(map[headers::TOKEN].is_sensitive() && !map[headers::APP].is_sensitive());
    }
}
