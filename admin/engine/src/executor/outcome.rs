//! What became of a request: the table of `engine` that decides who may be asked again.

use carillon_protocol::headers::RECEIVED_AT;
use carillon_protocol::{Verdict, parse_answer};
use carillon_scheduler::Millis;
use reqwest::{RequestBuilder, Response};

/// Nothing that an executor answers to `/run`, `/kill` or `/beat` is longer.
pub(crate) const ANSWER_LIMIT: usize = 1 << 20;
/// The end of the year 9999.
const LAST_MOMENT: Millis = 253_402_300_799_999;

/// Only [`Outcome::NotSent`] and [`Outcome::Withheld`] permit another address for the same run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Started or queued.
    Accepted,
    /// The executor has said no, or its address leads elsewhere: it has not run and will not.
    Refused { code: i32, message: String },
    /// Nothing was written: name not resolved, connection refused or not made in time.
    NotSent { why: String },
    /// Nothing was written for a reason of this side, such as a missing token: it says nothing of the address.
    Withheld { why: String },
    /// The request was written and the answer is none: it may run.
    Unknown { why: String },
}

/// What came back to a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    pub status: u16,
    pub body: Vec<u8>,
    /// When the executor received the request, by its clock, if it says so.
    pub received_at: Option<Millis>,
}

pub async fn of_run(call: RequestBuilder, run_id: i64) -> Outcome {
    match exchange(call, ANSWER_LIMIT).await {
        Ok(answered) => of_answer(&answered, run_id),
        Err(outcome) => outcome,
    }
}

/// Sends a request and reads at most `limit` bytes of the answer's body.
pub(crate) async fn exchange(call: RequestBuilder, limit: usize) -> Result<Answered, Outcome> {
    let response = call.send().await.map_err(|error| of_error(&error))?;
    let status = response.status().as_u16();
    if is_redirect(status) {
        let location = response.headers().get(reqwest::header::LOCATION);
        return Err(redirected(status, location.map(|location| location.as_bytes())));
    }
    let received_at = response.headers().get(RECEIVED_AT).and_then(|value| moment(value.as_bytes()));
    let body = read_body(response, limit).await.map_err(|error| of_error(&error))?;
    Ok(Answered { status, body, received_at })
}

/// A moment in an executor's answer. None: it is none that can be shown.
pub(crate) fn moment(text: &[u8]) -> Option<Millis> {
    std::str::from_utf8(text).ok()?.parse().ok().and_then(plausible_moment)
}

/// The moment by an executor's clock, unless it is none that can be shown.
pub fn plausible_moment(at: Millis) -> Option<Millis> {
    (1..=LAST_MOMENT).contains(&at).then_some(at)
}

/// A server that answers so has done nothing else with the request, and it is not sent to another place.
pub(crate) fn is_redirect(status: u16) -> bool {
    (300..400).contains(&status)
}

pub(crate) fn redirected(status: u16, location: Option<&[u8]>) -> Outcome {
    let message = match location.map(String::from_utf8_lossy) {
        Some(to) => format!("HTTP {status}: a redirect to {to}, which is not followed"),
        None => format!("HTTP {status}: a redirect, which is not followed"),
    };
    Outcome::Refused { code: i32::from(status), message }
}

pub(crate) fn unknown(why: String) -> Outcome {
    Outcome::Unknown { why }
}

pub(crate) fn of_answer(answered: &Answered, run_id: i64) -> Outcome {
    match parse_answer(answered.status, &answered.body) {
        Verdict::Accepted { .. } => Outcome::Accepted,
        // It has this very run already: an earlier request of ours did arrive.
        verdict if verdict.is_duplicate_of(run_id) => Outcome::Accepted,
        Verdict::Refused { code, message } => Outcome::Refused { code, message },
        Verdict::Unclear { why } => unknown(why),
    }
}

/// At most `limit` bytes; what follows is not read.
pub async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = limit - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == limit {
            break;
        }
    }
    Ok(body)
}

fn of_error(error: &reqwest::Error) -> Outcome {
    let why = describe(error);
    if error.is_connect() || error.is_builder() { Outcome::NotSent { why } } else { Outcome::Unknown { why } }
}

/// The innermost cause says what happened; the outer ones repeat the address.
pub fn describe(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return if error.is_connect() { "no connection in time".into() } else { "no answer in time".into() };
    }
    innermost(error)
}

pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

impl Outcome {
    /// Why there is no answer that counts; empty: it was accepted.
    pub(crate) fn into_reason(self) -> String {
        match self {
            Self::Accepted => String::new(),
            Self::Refused { message, .. } => message,
            Self::NotSent { why } | Self::Withheld { why } | Self::Unknown { why } => why,
        }
    }

    /// False: nothing was written.
    pub(crate) fn may_have_left(&self) -> bool {
        !matches!(self, Self::NotSent { .. } | Self::Withheld { .. })
    }

    /// The word of the metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused { .. } => "refused",
            Self::NotSent { .. } | Self::Withheld { .. } => "not_sent",
            Self::Unknown { .. } => "unknown",
        }
    }
}
