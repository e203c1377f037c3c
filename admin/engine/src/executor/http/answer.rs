//! What an answer means for its run.

use carillon_scheduler::job::http::{HttpDraft, masked};
use carillon_scheduler::{Millis, Outcome as Reported, RunEvent, RunReason};
use carillon_store::run::settle::finding::RunReport;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};

use crate::executor::outcome::{Outcome, redirected};

/// The status of a service that does its work later.
const ACCEPTED: u16 = 202;
/// Bytes of a body that an answer may have.
pub(super) const BODY_LIMIT: usize = 1 << 20;
/// Bytes of the result that a run keeps.
const RESULT_BYTES: usize = 65_536;
/// Bytes of the longest spelling of the longest secret, at least.
const LONGEST_SPELLING: usize = 65_536;
/// A service may put off a further attempt by this time at most, in ms.
const LONGEST_PAUSE: Millis = 3_600_000;

/// An answer, with a body of at most [`BODY_LIMIT`] bytes.
#[derive(Debug)]
pub struct Received {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// There is more of the body, which was not read.
    pub is_cut: bool,
}

impl Received {
    /// What people may see of it. Secrets are masked before anything is cut: a cut one would not be found.
    pub(super) fn without(&self, secrets: &[String]) -> Self {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let shown = masked(&String::from_utf8_lossy(value.as_bytes()), secrets);
            let value = HeaderValue::from_bytes(shown.as_bytes()).unwrap_or(HeaderValue::from_static("***"));
            headers.append(name.clone(), value);
        }
        // What was not read may be the rest of a secret.
        let kept = if self.is_cut { self.body.len().saturating_sub(LONGEST_SPELLING) } else { self.body.len() };
        let body = masked(&String::from_utf8_lossy(&self.body[..kept]), secrets);
        Self { status: self.status, headers, body: body.into_bytes(), is_cut: self.is_cut }
    }
}

/// What became of the request of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpOutcome {
    /// Nothing was written. The outcome says whether the service may be tried again.
    NotSent(Outcome),
    /// Nothing was written for a reason of this node that passes: the service is as it was.
    PutOff(String),
    /// Written, and no whole answer came: the service may have done what it was asked for.
    Unknown(String),
    /// A person, or the rule of the job, has ended the run.
    Killed,
    /// As the job expects it; with the result.
    Succeeded {
        status: u16,
        result: String,
    },
    /// The service has taken the run, and reports its end by a callback.
    Awaited,
    /// The service is busy, and says when it will not be.
    Busy {
        status: u16,
        why: String,
        not_before: Millis,
    },
    Failed {
        status: u16,
        why: String,
    },
}

impl HttpOutcome {
    /// The table of answers. `shown`: the answer without secrets, from which all texts are made.
    pub(super) fn of(request: &HttpDraft, received: &Received, shown: &Received, now: Millis) -> Self {
        let status = received.status;
        if StatusCode::from_u16(status).is_ok_and(|status| status.is_redirection()) {
            let location = shown.headers.get(LOCATION).map(|location| location.as_bytes());
            return Self::Failed { status, why: redirected(status, location).into_reason() };
        }
        if status == ACCEPTED && request.callback_seconds.is_some() {
            return Self::Awaited;
        }
        let (body, shown) = (String::from_utf8_lossy(&received.body), String::from_utf8_lossy(&shown.body));
        if !received.is_cut && request.expect.check(status, &body).is_ok() {
            return Self::Succeeded { status, result: cut(&shown, RESULT_BYTES) };
        }
        if let Some(not_before) = retry_after(received, now) {
            let why = format!("HTTP {status}: the service is busy");
            return Self::Busy { status, why, not_before };
        }
        if received.is_cut {
            return Self::Failed { status, why: format!("HTTP {status} with a body of more than 1 MiB") };
        }
        // The reason has the beginning of a value, which may be that of a secret.
        let why = request.expect.check(status, &shown).err();
        let why = why.unwrap_or_else(|| format!("HTTP {status}, but its body is not as the job expects it"));
        Self::Failed { status, why: with_body(&cut(&why, SHOWN_BYTES), &shown) }
    }

    /// What the gate of the origin learns.
    pub fn for_gate(&self) -> Outcome {
        match self {
            Self::NotSent(outcome) => outcome.clone(),
            Self::Unknown(why) => Outcome::Unknown { why: why.clone() },
            // They say nothing of the service.
            Self::PutOff(why) => Outcome::Withheld { why: why.clone() },
            Self::Killed => Outcome::Withheld { why: String::new() },
            Self::Awaited | Self::Succeeded { .. } | Self::Busy { .. } | Self::Failed { .. } => Outcome::Accepted,
        }
    }

    /// What is stored about the run. None: nothing was written, so its row says it already, or the run goes on.
    pub fn into_report(self, run_id: i64) -> Option<RunReport> {
        let failed = RunEvent::Reported(Reported::Failed);
        let report = match self {
            Self::NotSent(_) | Self::PutOff(_) | Self::Awaited => return None,
            Self::Unknown(why) => RunReport::internal(run_id, RunEvent::Unresolved, RunReason::Unknown, why),
            Self::Killed => {
                let why = "its request was ended; the service may have got it".to_owned();
                RunReport::found(run_id, RunEvent::Reported(Reported::Killed), None, Some(why))
            }
            Self::Succeeded { status, result } => RunReport {
                code: Some(status.into()),
                ..RunReport::found(run_id, RunEvent::Reported(Reported::Succeeded), None, Some(result))
            },
            Self::Busy { status, why, not_before } => RunReport {
                code: Some(status.into()),
                not_before: Some(not_before),
                ..RunReport::internal(run_id, RunEvent::Refused, RunReason::Refused, why)
            },
            Self::Failed { status, why } => {
                RunReport { code: Some(status.into()), ..RunReport::internal(run_id, failed, RunReason::Result, why) }
            }
        };
        Some(report)
    }
}

/// When a busy service may be asked again. None: it is not busy, or does not say it.
fn retry_after(received: &Received, now: Millis) -> Option<Millis> {
    if !matches!(received.status, 429 | 503) {
        return None;
    }
    let text = received.headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let at = match text.parse::<u32>() {
        Ok(seconds) => now + i64::from(seconds) * 1000,
        Err(_) => chrono::DateTime::parse_from_rfc2822(text).ok()?.timestamp_millis(),
    };
    Some(at.clamp(now, now + LONGEST_PAUSE))
}

/// Bytes of a body that the reason of a failure shows.
const SHOWN_BYTES: usize = 500;

fn with_body(why: &str, body: &str) -> String {
    match body.trim() {
        "" => why.to_owned(),
        body => format!("{why}: {}", cut(body, SHOWN_BYTES)),
    }
}

/// At most `bytes` of a text that databases take.
pub(super) fn cut(text: &str, bytes: usize) -> String {
    text[..text.floor_char_boundary(bytes)].replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_760_000_000_000;

    const SECRET: &str = "s3cret-word";

    fn outcome(status: u16, headers: &[(&'static str, &str)], body: &str) -> HttpOutcome {
        outcome_of(&HttpDraft::new("http://a/"), status, headers, body)
    }

    fn outcome_of(request: &HttpDraft, status: u16, headers: &[(&'static str, &str)], body: &str) -> HttpOutcome {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let received = Received { status, headers, body: body.into(), is_cut: false };
        HttpOutcome::of(request, &received, &received.without(&[SECRET.to_owned()]), NOW)
    }

    fn reason(outcome: HttpOutcome) -> String {
        match outcome {
            HttpOutcome::Failed { why, .. } => why,
            other => panic!("{other:?}"),
        }
    }

    // covers: 001-44
    #[test]
    fn a_secret_at_a_cut_is_masked_whole() {
        let result = match outcome(200, &[], &format!("{}{SECRET}", "x".repeat(RESULT_BYTES - 5))) {
            HttpOutcome::Succeeded { result, .. } => result,
            other => panic!("{other:?}"),
        };
        assert!(result.ends_with("x***"), "{}", &result[RESULT_BYTES - 20..]);
        let why = reason(outcome(500, &[], &format!("{}{SECRET}", "x".repeat(SHOWN_BYTES - 5))));
        assert!(why.ends_with("x***"), "{why}");
        let mut request = HttpDraft::new("http://a/");
        request.expect.body = Some(serde_json::from_str(r#"{"path": "/k", "eq": 1}"#).unwrap());
        let body = format!(r#"{{"k": "{}{SECRET}"}}"#, "x".repeat(55));
        let why = reason(outcome_of(&request, 200, &[], &body));
        assert!(why.contains("x***") && !why.contains("s3c"), "{why}");
    }

    // covers: 001-44
    #[test]
    fn the_end_of_a_body_that_was_not_read_whole_is_not_shown() {
        let body = format!("{}{}", "x".repeat(BODY_LIMIT - 5), &SECRET[..6]).into_bytes();
        let received = Received { status: 200, headers: HeaderMap::new(), body, is_cut: true };
        assert!(received.without(&[SECRET.to_owned()]).body.iter().all(|byte| *byte == b'x'));
    }

    // covers: 001-44
    #[test]
    fn a_busy_service_says_when_it_may_be_asked_again_within_an_hour() {
        let not_before = |status, after: &str| match outcome(status, &[("retry-after", after)], "") {
            HttpOutcome::Busy { not_before, .. } => Some(not_before - NOW),
            _ => None,
        };
        assert_eq!(not_before(429, "7"), Some(7_000));
        assert_eq!(not_before(503, "86400"), Some(3_600_000), "not later than an hour");
        assert_eq!(not_before(503, "Thu, 09 Oct 2025 08:54:00 +0000"), Some(40_000));
        assert_eq!(not_before(503, "Thu, 09 Oct 2025 08:54:00 GMT"), Some(40_000));
        assert_eq!(not_before(503, "soon"), None);
        assert_eq!(not_before(500, "7"), None);
        assert!(matches!(outcome(503, &[], ""), HttpOutcome::Failed { .. }));
    }

    // covers: 001-44
    #[test]
    fn an_answer_that_is_expected_is_a_success_though_the_service_could_be_asked_again() {
        let mut request = HttpDraft::new("http://a/");
        request.expect.status = "200, 503".into();
        let answered = |request: &HttpDraft| outcome_of(request, 503, &[("retry-after", "7")], "done");
        assert_eq!(answered(&request), HttpOutcome::Succeeded { status: 503, result: "done".into() });
        request.expect.body = Some(serde_json::from_str(r#"{"path": "", "eq": "other"}"#).unwrap());
        assert!(matches!(answered(&request), HttpOutcome::Busy { .. }));
    }

    // covers: 001-44
    #[test]
    fn a_service_is_awaited_only_if_it_was_given_an_address_for_its_callback() {
        let mut request = HttpDraft::new("http://a/");
        let answered = |request: &HttpDraft, status| outcome_of(request, status, &[], "later");
        assert_eq!(answered(&request, 202), HttpOutcome::Succeeded { status: 202, result: "later".into() });
        request.callback_seconds = Some(60);
        assert_eq!(answered(&request, 202), HttpOutcome::Awaited);
        assert_eq!(answered(&request, 200), HttpOutcome::Succeeded { status: 200, result: "later".into() });
        assert!(matches!(answered(&request, 500), HttpOutcome::Failed { .. }));
    }

    // covers: 001-44
    #[test]
    fn a_redirect_is_a_failure_that_names_its_target() {
        let why = reason(outcome(302, &[("location", "http://169.254.169.254/")], ""));
        assert_eq!(why, "HTTP 302: a redirect to http://169.254.169.254/, which is not followed");
    }

    #[test]
    fn a_text_with_nul_can_be_stored() {
        assert_eq!(outcome(200, &[], "a\0b"), HttpOutcome::Succeeded { status: 200, result: "a\u{fffd}b".into() });
        assert_eq!(cut("aé", 2), "a");
        let mut request = HttpDraft::new("http://a/");
        request.expect.body = Some(serde_json::from_str(r#"{"path": "", "eq": "b"}"#).unwrap());
        assert!(!reason(outcome_of(&request, 200, &[], "a\0b")).contains('\0'));
    }
}
