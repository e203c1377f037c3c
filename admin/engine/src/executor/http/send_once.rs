//! The request of a job that is sent for no run: a person wants to see the answer.

use std::time::Duration;

use carillon_scheduler::Zone;
use carillon_scheduler::job::http::HttpDraft;
use carillon_scheduler::job::placeholders::fill;

use super::answer::HttpOutcome;
use super::log;
use super::request::RequestAbout;
use super::sender::{HttpSender, exchange, what};
use crate::context::Context;

/// The longest wait for the answer to a request that is sent for no run: a person waits for it.
const TEST_LIMIT: Duration = Duration::from_secs(10);

/// What came of a request that was sent for no run.
pub struct SentOnce {
    pub outcome: HttpOutcome,
    /// The request and the answer, without secrets; empty: there was no request.
    pub log: String,
}

impl SentOnce {
    /// What the answer would mean for a run, in one word.
    pub fn verdict(&self) -> &'static str {
        match &self.outcome {
            HttpOutcome::Succeeded { .. } => "succeeded",
            HttpOutcome::Awaited => "awaited",
            HttpOutcome::Busy { .. } | HttpOutcome::Failed { .. } => "failed",
            HttpOutcome::Unknown(_) | HttpOutcome::Killed => "unknown",
            HttpOutcome::NotSent(_) | HttpOutcome::PutOff(_) => "not-sent",
        }
    }

    /// Why it is no success; empty: it is one.
    pub fn why(&self) -> String {
        match &self.outcome {
            HttpOutcome::Succeeded { .. } | HttpOutcome::Awaited | HttpOutcome::Killed => String::new(),
            HttpOutcome::Busy { why, .. } | HttpOutcome::Failed { why, .. } => why.clone(),
            HttpOutcome::Unknown(why) | HttpOutcome::PutOff(why) => why.clone(),
            HttpOutcome::NotSent(outcome) => outcome.clone().into_reason(),
        }
    }
}

impl HttpSender {
    /// Sends the request of a job for no run, and waits for the answer for 10 seconds at most.
    pub async fn send_once(&self, cx: &Context, app_id: i64, draft: &HttpDraft, given: (&str, Zone)) -> SentOnce {
        let (params, zone) = given;
        let about = RequestAbout::test(zone, cx);
        let params = fill(params, about.values());
        let prepared = match self.prepare(cx, app_id, draft, (about, &*params)).await {
            Ok(prepared) => prepared,
            Err(outcome) => return SentOnce { outcome, log: String::new() },
        };
        let call = match self.call(&prepared).await {
            Ok(call) => call,
            Err(outcome) => return SentOnce { outcome: HttpOutcome::NotSent(outcome), log: String::new() },
        };
        let limit = Duration::from_secs(u64::from(draft.timeout_seconds.unsigned_abs())).min(TEST_LIMIT);
        match exchange(call.timeout(limit)).await {
            Ok(received) => {
                let shown = received.without(&prepared.secrets);
                let outcome = HttpOutcome::of(draft, &received, &shown, cx.clock.now());
                SentOnce { outcome, log: log::text(&prepared, Ok(&shown)) }
            }
            Err(outcome) => {
                let log = log::text(&prepared, Err(&what(&outcome)));
                SentOnce { outcome, log }
            }
        }
    }
}
