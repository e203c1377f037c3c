//! Which answers count as success.

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
}

/// Status codes that count as success, from and to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusRanges(Vec<(u16, u16)>);

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
        match &self.body {
            Some(test) => test.check(Some(body)).map_err(|why| match why {
                Branch::Test { path, value } => format!("HTTP {status}, but `{path}` of its body is `{value}`"),
                _ => format!("HTTP {status}, but its body has nothing at `{}`", test.path),
            }),
            None => Ok(()),
        }
    }
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
    fn an_answer_is_judged_by_its_status_and_its_body() {
        let expect = |status: &str, test: Option<&str>| ExpectDraft {
            status: status.to_owned(),
            body: test.map(|test| serde_json::from_str(test).unwrap()),
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
