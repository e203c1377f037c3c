//! Which answers count as success.

use regex_lite::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use crate::workflow::{Branch, Test};

/// The answers that count as success: those with such a status, and a body that passes the test if there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "what to expect as an object")]
pub struct ExpectDraft {
    /// Status codes and ranges, such as `200-299, 404`; empty: 200-299.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// A test of the body as on the edge of a workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Test>,
    /// A regular expression that is found in the first 16 KiB of the body; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pattern: String,
}

/// Status codes that count as success, from and to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusRanges(Vec<(u16, u16)>);

/// Maximum length of a pattern, in characters.
const PATTERN_CHARS: usize = 300;
/// Bytes of a compiled pattern: the time for a body is limited by it.
const PATTERN_BYTES: usize = 16 << 10;
/// Bytes of a body that are searched.
const SEARCHED_BYTES: usize = 16 << 10;

/// Maximum number of ranges.
const MOST_RANGES: usize = 20;

impl ExpectDraft {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Checks an answer.
    ///
    /// # Errors
    /// Says what was expected and what came.
    pub fn check(&self, status: u16, body: &str) -> Result<(), String> {
        let ranges = StatusRanges::parse(&self.status).unwrap_or_else(|_| StatusRanges::success());
        if !ranges.contain(status) {
            return Err(format!("HTTP {status}"));
        }
        if !self.pattern.is_empty() && !is_found(&self.pattern, body) {
            return Err(format!("HTTP {status}, but `{}` is not found in its body", self.pattern));
        }
        match &self.body {
            Some(test) => test.check(Some(body)).map_err(|why| match why {
                Branch::Test { path, value } => format!("HTTP {status}, but `{path}` of its body is `{value}`"),
                _ => format!("HTTP {status}, but its body has nothing at `{}`", test.path),
            }),
            None => Ok(()),
        }
    }
}

/// Reads a pattern.
///
/// # Errors
/// Says what is wrong.
pub(super) fn check_pattern(pattern: &str) -> Result<(), String> {
    match pattern.chars().count() {
        0..=PATTERN_CHARS => compile(pattern).map(drop).map_err(|error| format!("is no regular expression: {error}")),
        chars => Err(format!("has {chars} characters; at most {PATTERN_CHARS} are allowed")),
    }
}

fn compile(pattern: &str) -> Result<Regex, regex_lite::Error> {
    RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build()
}

fn is_found(pattern: &str, body: &str) -> bool {
    let searched = &body[..body.floor_char_boundary(SEARCHED_BYTES)];
    compile(pattern).is_ok_and(|pattern| pattern.is_match(searched))
}

impl StatusRanges {
    fn success() -> Self {
        Self(vec![(200, 299)])
    }

    /// Reads codes and ranges with commas between them.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::success());
        }
        let ranges: Vec<(u16, u16)> = text.split(',').map(range).collect::<Result<_, _>>()?;
        match ranges.len() {
            0..=MOST_RANGES => Ok(Self(ranges)),
            count => Err(format!("has {count} ranges; at most {MOST_RANGES} are allowed")),
        }
    }

    /// Whether a status is in one of the ranges.
    pub fn contain(&self, status: u16) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&status))
    }
}

/// Redirects are not followed and are failures, so a final status alone can be expected.
fn range(text: &str) -> Result<(u16, u16), String> {
    let text = text.trim();
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let code = |text: &str| text.trim().parse::<u16>().ok().filter(|code| (200..=599).contains(code));
    match (code(from), code(to)) {
        (Some(from), Some(to)) if from < 400 && to >= 300 => {
            Err(format!("`{text:.32}` has redirects (300 to 399), which are not followed and never count as success"))
        }
        (Some(from), Some(to)) if from <= to => Ok((from, to)),
        _ => Err(format!("`{text:.32}` is not a status between 200 and 599 or a range of them, such as 200-299")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-44
    #[test]
    fn a_pattern_is_found_anywhere_in_the_beginning_of_a_body() {
        let expect = |pattern: &str| ExpectDraft { pattern: pattern.to_owned(), ..ExpectDraft::default() };
        for (pattern, body, holds) in [
            ("ok", "all ok", true),
            ("^ok$", "all ok", false),
            (r"(?i)\bdone: \d+ rows", "Done: 17 rows", true),
            (r"(?m)^ok$", "first\nok\n", true),
            ("ok", &format!("{}ok", "x".repeat(16_382)), true),
            ("ok", &format!("{}ok", "x".repeat(16_384)), false),
        ] {
            assert_eq!(expect(pattern).check(200, body).is_ok(), holds, "{pattern}");
        }
        let both =
            ExpectDraft { body: Some(serde_json::from_str(r#"{"path":"/ok","eq":true}"#).unwrap()), ..expect("rows") };
        assert!(both.check(200, r#"{"ok":true,"rows":7}"#).is_ok());
        assert!(both.check(200, r#"{"ok":false,"rows":7}"#).is_err());
        let why = both.check(200, r#"{"ok":true}"#).unwrap_err();
        assert_eq!(why, "HTTP 200, but `rows` is not found in its body");
    }

    #[test]
    fn a_pattern_that_would_take_long_is_refused() {
        for right in ["", "a|b", r"^\{.*\}$", "[0-9]{1,5}", &"x".repeat(300)] {
            assert_eq!(check_pattern(right), Ok(()), "{right}");
        }
        for wrong in ["(", "a{100000}", "(a{100}){100}", &"x".repeat(301)] {
            assert!(check_pattern(wrong).is_err(), "{wrong}");
        }
    }

    // covers: 001-44
    #[test]
    fn an_answer_is_judged_by_its_status_and_its_body() {
        let expect = |status: &str, test: Option<&str>| ExpectDraft {
            status: status.to_owned(),
            body: test.map(|test| serde_json::from_str(test).unwrap()),
            ..ExpectDraft::default()
        };
        for (wanted, status, body, holds) in [
            (expect("", None), 204, "", true),
            (expect("", None), 302, "", false),
            (expect("200-299, 404", None), 404, "", true),
            (expect("201", None), 200, "", false),
            (expect("200-299, 503", None), 503, "", true),
            (expect("", Some(r#"{"path":"/ok","eq":true}"#)), 200, r#"{"ok":true}"#, true),
            (expect("", Some(r#"{"path":"/ok","eq":true}"#)), 200, r#"{"ok":false}"#, false),
            (expect("", Some(r#"{"path":"","eq":"done"}"#)), 200, "done", true),
        ] {
            assert_eq!(wanted.check(status, body).is_ok(), holds, "{wanted:?} {status} {body}");
        }
    }

    #[test]
    fn what_is_no_final_status_is_refused() {
        for wrong in ["100", "600", "299-200", "2xx", "200,", "-"] {
            assert!(StatusRanges::parse(wrong).unwrap_err().contains("is not a status"), "{wrong}");
        }
        for redirects in ["302", "200-400", "399-599"] {
            assert!(StatusRanges::parse(redirects).unwrap_err().contains("has redirects"), "{redirects}");
        }
        assert!(StatusRanges::parse(&["200"; 21].join(",")).unwrap_err().starts_with("has 21 ranges"));
    }
}
