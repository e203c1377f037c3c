//! The calls to executors. Names reqwest; translates between the wire and the rules' words.
//!
//! There is no pool that one sick executor could fill: each address has its own connections, and the caller limits how
//! many requests an address has at once. A request whose outcome is not certain is never repeated here. Runs for plain
//! HTTP addresses travel on held connections (`connections`); the rare calls, and TLS, use reqwest.

use crate::executor::outcome;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::{self as wire, RunAnswer, RunBatch, SignedRequest};
use carillon_scheduler::{Clock, Millis, Traceparent};
use reqwest::{RequestBuilder, Url};
use serde::Serialize;
use tokio::time::timeout;

use crate::executor::client_tls::ClientTls;
use crate::executor::connections::{HeldConnections, Limits, RUN, RequestHeaders};
use crate::executor::outcome::{ANSWER_LIMIT, Answered, Outcome};
use crate::executor::tokens::{ExecutorTokens, SentCredential};
use crate::outgoing::{Connector, HttpClients};
pub use wire::{LogAnswer, LogPage, OTHER_JOURNAL, RunRequest, SUCCESS, TIMEOUT};

/// Answers to up to 500 runs, with their reasons.
const BATCH_ANSWER_LIMIT: usize = 4 << 20;
/// Stock executors send the whole rest of a log. Of more than this, the whole lines are a page, and the next page begins behind them.
const LOG_LIMIT: usize = 4 << 20;

/// What belongs to one `/run` beside its body.
#[derive(Clone, Debug)]
pub struct RunHeaders<'a> {
    pub app: &'a str,
    pub fire_key: String,
    pub scheduled_at: i64,
    pub attempt: i32,
    pub epoch: i64,
    pub not_after: i64,
    /// Of a run that follows from the items of another one.
    pub phase: Option<&'static str>,
    pub traceparent: Traceparent,
    /// When it is sent again: the only journal that may take it.
    pub journal_id: Option<&'a str>,
}

/// What an executor has of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunQueryResult {
    /// `queued`, `running` or `finished`, from executors of our SDK.
    pub run_state: Option<String>,
    /// None: it has no log of it.
    pub page: Option<LogPage>,
}

pub struct ExecutorClient {
    http: HttpClients,
    held: HeldConnections,
    connector: Connector,
    limits: Limits,
    clock: Arc<dyn Clock>,
    pub(crate) tokens: Arc<ExecutorTokens>,
}

impl ExecutorClient {
    /// # Errors
    /// No TLS is at hand.
    pub fn new(
        tokens: Arc<ExecutorTokens>,
        limits: Limits,
        connector: Connector,
        tls: ClientTls,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let http = HttpClients::new(connector.clone(), move |client| {
            tls.clone()
                .apply(client)
                .connect_timeout(limits.connect)
                .timeout(limits.request)
                // uvicorn closes an idle connection after 5 s; a request that meets the closing reads as "unknown".
                .pool_idle_timeout(Duration::from_secs(4))
                .http1_only()
                .tcp_nodelay(true)
        })?;
        let held = HeldConnections::new(limits, connector.clone());
        Ok(Self { http, held, connector, limits, clock, tokens })
    }

    /// Whether requests, with the token, may go to an address.
    ///
    /// # Errors
    /// What is wrong with it.
    pub async fn admit(&self, address: &str) -> Result<(), String> {
        // A name that is not resolved in time is allowed as one that cannot be resolved: each connection is checked again.
        timeout(self.limits.connect, self.connector.admit(address)).await.unwrap_or(Ok(()))
    }

    /// Answers also when the executor received the request, by its clock, if it says so.
    pub async fn run(&self, address: &str, request: &RunRequest, about: &RunHeaders<'_>) -> (Outcome, Option<Millis>) {
        let headers = match run_headers(about) {
            Ok(headers) => headers,
            Err(why) => return (Outcome::Withheld { why }, None),
        };
        match self.exchange(address, about.app, RUN, headers, request, ANSWER_LIMIT).await {
            Ok(answered) => (outcome::of_answer(&answered, request.log_id), answered.received_at),
            Err(outcome) => (outcome, None),
        }
    }

    /// Several runs of one app. Each has an answer of its own, but for those that the executor left out.
    ///
    /// # Errors
    /// What became of all of them: refused together, not sent, or unknown.
    pub async fn run_batch(&self, address: &str, app: &str, batch: &RunBatch) -> Result<Vec<RunAnswer>, Outcome> {
        let headers = RequestHeaders::new();
        let answered = self.exchange(address, app, "runs", headers, batch, BATCH_ANSWER_LIMIT).await?;
        match wire::parse_answer(answered.status, &answered.body) {
            wire::Verdict::Accepted { content, .. } => {
                let parsed = serde_json::from_str(content.as_deref().unwrap_or_default());
                parsed.map_err(|error| outcome::unknown(format!("the answers to a batch cannot be read: {error}")))
            }
            wire::Verdict::Refused { code, message } => Err(Outcome::Refused { code, message }),
            wire::Verdict::Unclear { why } => Err(outcome::unknown(why)),
        }
    }

    /// One request with its answer: on a held connection, or by reqwest if the address needs more than plain HTTP.
    async fn exchange(
        &self,
        address: &str,
        app: &str,
        path: &str,
        headers: RequestHeaders,
        body: &impl Serialize,
        limit: usize,
    ) -> Result<Answered, Outcome> {
        let (headers, body) = self.authorized(address, app, path, headers, body)?;
        let Some(target) = self.held.target(address) else {
            let call = self.by_reqwest(address, path, &headers, body).await?;
            return outcome::exchange(call, limit).await;
        };
        self.held.post(&target, path, &headers, &body, limit).await
    }

    /// The headers and the body of a request that the executor takes: with the token, or signed.
    ///
    /// # Errors
    /// [`Outcome::Withheld`]: the executor is not registered any more, or its token cannot be decrypted.
    fn authorized(
        &self,
        address: &str,
        app: &str,
        path: &str,
        mut headers: RequestHeaders,
        body: &impl Serialize,
    ) -> Result<(RequestHeaders, Vec<u8>), Outcome> {
        let withheld = |why: String| Outcome::Withheld { why };
        let body = serde_json::to_vec(body).map_err(|error| withheld(error.to_string()))?;
        headers.add(wire::headers::APP, app).map_err(withheld)?;
        let unknown = || withheld(format!("no token of {app} is known for {address}"));
        let added = match self.tokens.sent_to(app, address).ok_or_else(unknown)? {
            SentCredential::Token(token) => headers.add(wire::headers::TOKEN, token),
            SentCredential::Key(key) => {
                let request = SignedRequest { receiver: address, path, headers: headers.iter() };
                let signature = key.sign(request, &body, self.clock.now(), rand::random());
                headers.add(wire::headers::SIGNATURE, signature)
            }
        };
        added.map_err(withheld)?;
        Ok((headers, body))
    }

    /// Asks for the end of one run. A stock executor knows the job only: it ends all that it has of that job.
    pub async fn kill(&self, address: &str, app: &str, job_id: i64, run_id: i64) -> Outcome {
        let mut about = RequestHeaders::new();
        let call = match about.add(wire::headers::RUN_ID, run_id) {
            Ok(()) => self.post_with(about, address, "kill", app, &job_ref(job_id)).await,
            Err(why) => Err(Outcome::Withheld { why }),
        };
        of_run(call, run_id).await
    }

    /// Is it alive? Waits at most `limit`.
    pub async fn beat(&self, address: &str, app: &str, limit: Duration) -> Outcome {
        let call = self.post(address, "beat", app, &serde_json::json!({})).await;
        of_run(call.map(|call| call.timeout(limit)), 0).await
    }

    /// Has it no run of this job, running or queued? Waits at most `limit`; a no is [`Outcome::Refused`].
    pub async fn idle_beat(&self, address: &str, app: &str, job_id: i64, limit: Duration) -> Outcome {
        let call = self.post(address, "idleBeat", app, &job_ref(job_id)).await;
        of_run(call.map(|call| call.timeout(limit)), 0).await
    }

    /// Gives the executor a loop.
    pub async fn start_loop(&self, address: &str, app: &str, grant: &wire::LoopGrant) -> Outcome {
        of_run(self.post(address, "loop", app, grant).await, 0).await
    }

    /// Ends a loop there, and answers its last report as JSON; None: it was not there any more.
    ///
    /// # Errors
    /// The executor has not confirmed it.
    pub async fn stop_loop(&self, address: &str, app: &str, of: &wire::LoopStop) -> Result<Option<String>, String> {
        let call = self.post(address, "loop/stop", app, of).await.map_err(Outcome::into_reason)?;
        let answered = outcome::exchange(call, outcome::ANSWER_LIMIT).await.map_err(Outcome::into_reason)?;
        match wire::parse_answer(answered.status, &answered.body) {
            wire::Verdict::Accepted { content, .. } => Ok(content),
            wire::Verdict::Refused { message, .. } => Err(message),
            wire::Verdict::Unclear { why } => Err(why),
        }
    }

    /// What the executor remembers of the last calls of a loop. Waits at most `limit`.
    ///
    /// # Errors
    /// It does not answer, or has not got the loop.
    pub async fn loop_history(
        &self,
        address: &str,
        app: &str,
        job_id: i32,
        limit: Duration,
    ) -> Result<wire::LoopHistory, String> {
        let of = wire::LoopRef { job_id };
        let call = self.post(address, "loop/recent", app, &of).await.map_err(Outcome::into_reason)?.timeout(limit);
        let answered = outcome::exchange(call, outcome::ANSWER_LIMIT).await.map_err(Outcome::into_reason)?;
        match wire::parse_answer(answered.status, &answered.body) {
            wire::Verdict::Accepted { content, .. } => wire::parse_loops(content.unwrap_or_default().as_bytes()),
            wire::Verdict::Refused { message, .. } => Err(message),
            wire::Verdict::Unclear { why } => Err(why),
        }
    }

    /// The log from line `from`. `due_at` must be the `logDateTime` of the run's request: executors find the file by it.
    pub async fn read_log(
        &self,
        address: &str,
        app: &str,
        run_id: i64,
        due_at: i64,
        from: i64,
    ) -> Result<LogAnswer, String> {
        let request = wire::LogRequest { log_date_time: due_at, log_id: run_id, from_line: from };
        let call = self.post(address, "log", app, &request).await.map_err(Outcome::into_reason)?;
        let response = call.send().await.map_err(|error| outcome::describe(&error))?;
        let body = outcome::read_body(response, LOG_LIMIT).await.map_err(|error| outcome::describe(&error))?;
        let cut = || wire::parse_cut_log_page(&body, from).filter(|_| body.len() == LOG_LIMIT);
        wire::parse_log_page(&body).or_else(|why| cut().map(LogAnswer::Page).ok_or(why))
    }

    /// What an executor has of a run: the first page of its log, and where the run stands, if it says so.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn query_run(
        &self,
        address: &str,
        app: &str,
        run_id: i64,
        due_at: i64,
    ) -> Result<RunQueryResult, String> {
        let request = wire::LogRequest { log_date_time: due_at, log_id: run_id, from_line: 1 };
        let call = self.post(address, "log", app, &request).await.map_err(Outcome::into_reason)?;
        let response = call.send().await.map_err(|error| outcome::describe(&error))?;
        if !response.status().is_success() {
            return Err(format!("HTTP {}", response.status().as_u16()));
        }
        let run_state = response.headers().get(wire::headers::RUN_STATE);
        let run_state = run_state.and_then(|state| state.to_str().ok()).map(str::to_owned);
        let body = outcome::read_body(response, LOG_LIMIT).await;
        let body = body.map_err(|error| outcome::describe(&error))?;
        let page = match wire::parse_log_page(&body) {
            Ok(wire::LogAnswer::Page(page)) => Some(page),
            _ => None,
        };
        Ok(RunQueryResult { run_state, page })
    }

    async fn post(
        &self,
        address: &str,
        path: &str,
        app: &str,
        body: &impl Serialize,
    ) -> Result<RequestBuilder, Outcome> {
        self.post_with(RequestHeaders::new(), address, path, app, body).await
    }

    async fn post_with(
        &self,
        headers: RequestHeaders,
        address: &str,
        path: &str,
        app: &str,
        body: &impl Serialize,
    ) -> Result<RequestBuilder, Outcome> {
        let (headers, body) = self.authorized(address, app, path, headers, body)?;
        self.by_reqwest(address, path, &headers, body).await
    }

    /// A request by reqwest to an address that may be called: it was stored, perhaps under other rules.
    async fn by_reqwest(
        &self,
        address: &str,
        path: &str,
        headers: &RequestHeaders,
        body: Vec<u8>,
    ) -> Result<RequestBuilder, Outcome> {
        let not_sent = |why: String| Outcome::NotSent { why };
        let headers = headers.to_map().map_err(|why| Outcome::Withheld { why })?;
        let url = Url::parse(&wire::join_url(address, path)).map_err(|error| not_sent(error.to_string()))?;
        match timeout(self.limits.connect, self.http.post(url)).await {
            Ok(checked) => Ok(checked.map_err(|error| not_sent(error.to_string()))?.headers(headers).body(body)),
            Err(_elapsed) => Err(not_sent("its name is not resolved in time".into())),
        }
    }
}

fn job_ref(job_id: i64) -> wire::JobRef {
    wire::JobRef { job_id: i32::try_from(job_id).unwrap_or(i32::MAX) }
}

fn run_headers(about: &RunHeaders<'_>) -> Result<RequestHeaders, String> {
    let mut headers = RequestHeaders::new();
    headers.add(wire::headers::FIRE_KEY, &about.fire_key)?;
    headers.add(wire::headers::SCHEDULED_AT, about.scheduled_at)?;
    headers.add(wire::headers::ATTEMPT, about.attempt)?;
    headers.add(wire::headers::EPOCH, about.epoch)?;
    headers.add(wire::headers::NOT_AFTER, about.not_after)?;
    headers.add(wire::headers::TRACEPARENT, about.traceparent)?;
    if let Some(phase) = about.phase {
        headers.add(wire::headers::PHASE, phase)?;
    }
    if let Some(journal_id) = about.journal_id {
        headers.add(wire::headers::JOURNAL_ID, journal_id)?;
    }
    Ok(headers)
}

async fn of_run(call: Result<RequestBuilder, Outcome>, run_id: i64) -> Outcome {
    match call {
        Ok(call) => outcome::of_run(call, run_id).await,
        Err(outcome) => outcome,
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
