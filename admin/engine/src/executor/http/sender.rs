//! Sends the request of a run and reads its answer.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret_keys::SecretKeys;
use carillon_scheduler::job::http::{HttpAuth, HttpDraft};
use reqwest::header::{HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Method, RequestBuilder, Url};
use tokio_util::sync::CancellationToken;

use super::access_tokens::AccessTokens;
use super::answer::{BODY_LIMIT, HttpOutcome, Received};
use super::log;
use super::request::{Prepared, RequestAbout, prepare};
use crate::context::Context;
use crate::executor::outcome::{Outcome, describe, read_body};
use crate::job_cache::CachedJob;
use crate::outgoing::{Connector, HttpClients};
use carillon_store::run::adopt::ClaimedRun;

/// First pause between two looks whether a run is to be ended; each one is twice as long, up to the last.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LAST_LOOK: Duration = Duration::from_secs(8);
/// Limit for connecting to a service, with the handshake of TLS. Services are farther away than executors.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// The status of a service that does not accept the token.
const UNAUTHORIZED: u16 = 401;

/// A marked run with what it sends.
pub struct HttpRun<'a> {
    pub run: &'a ClaimedRun,
    pub job: &'a CachedJob,
    pub draft: &'a HttpDraft,
    /// With placeholders replaced.
    pub params: String,
    /// On the monotonic clock: nothing is written later, as others may have settled the run.
    pub send_until: Duration,
}

pub struct HttpSender {
    pub(super) clients: HttpClients,
    pub(super) keys: SecretKeys,
    pub(super) tokens: AccessTokens,
    /// The node ends: what has no answer by now stays without one.
    ending: CancellationToken,
}

impl HttpSender {
    /// # Errors
    /// No TLS is at hand.
    pub fn new(connector: Connector, keys: SecretKeys) -> Result<Self, String> {
        let clients = HttpClients::new(connector, |client| {
            client
                .connect_timeout(CONNECT_LIMIT)
                .pool_idle_timeout(Duration::from_secs(4))
                .http1_only()
                .tcp_nodelay(true)
        })?;
        Ok(Self { clients, keys, tokens: AccessTokens::default(), ending: CancellationToken::new() })
    }

    /// Requests under way end without an answer.
    pub fn end(&self) {
        self.ending.cancel();
    }

    /// Sends the request; what it sent and got is the log of the run, which is stored before this answers.
    pub async fn send(&self, cx: &Arc<Context>, it: HttpRun<'_>) -> HttpOutcome {
        let about = RequestAbout::run(it.run, it.job.zone(), cx);
        let prepared = match self.prepare(cx, it.job.stored.app_id, it.draft, (about, it.params.as_str())).await {
            Ok(prepared) => prepared,
            Err(outcome) => return outcome,
        };
        let call = match self.call(&prepared).await {
            Ok(call) => call,
            Err(outcome) => return HttpOutcome::NotSent(outcome),
        };
        // The database, or the look at the addresses of this machine, may take its time.
        if cx.clock.monotonic() > it.send_until {
            return HttpOutcome::PutOff("its request was not ready in time".to_owned());
        }
        let limit = CONNECT_LIMIT + Duration::from_secs(u64::from(it.draft.timeout_seconds.unsigned_abs()));
        let answered = tokio::select! {
            answered = exchange(call.timeout(limit)) => answered,
            () = killed(cx, it.run.run_id) => Err(HttpOutcome::Killed),
            () = self.ending.cancelled() => Err(HttpOutcome::Unknown("the node ended before the answer came".into())),
        };
        let is_refused = answered.as_ref().is_ok_and(|received| received.status == UNAUTHORIZED);
        if is_refused && matches!(it.draft.auth, Some(HttpAuth::Oauth2(_))) {
            self.forget_token(cx, it.job.stored.app_id, it.draft).await;
        }
        let now = cx.clock.now();
        let (outcome, text) = match &answered {
            Ok(received) => {
                let shown = received.without(&prepared.secrets);
                (HttpOutcome::of(it.draft, received, &shown, now), log::text(&prepared, Ok(&shown)))
            }
            Err(HttpOutcome::NotSent(why)) => return HttpOutcome::NotSent(why.clone()),
            Err(outcome) => (outcome.clone(), log::text(&prepared, Err(&what(outcome)))),
        };
        if let Err(error) = cx.store.runs().write_http_log(it.run.run_id, &text).await {
            tracing::warn!(%error, run.id = it.run.run_id, "the log of a request could not be stored");
        }
        outcome
    }

    pub(super) async fn prepare(
        &self,
        cx: &Context,
        app_id: i64,
        draft: &HttpDraft,
        (about, params): (RequestAbout, &str),
    ) -> Result<Prepared, HttpOutcome> {
        let names = draft.secrets();
        let secrets = match names.is_empty() {
            true => BTreeMap::new(),
            false => self.secrets(&cx.store, app_id, &names).await.map_err(HttpOutcome::PutOff)?,
        };
        let token = self.token(cx, (app_id, draft), &secrets).await?;
        prepare(draft, about, params, (secrets, token), cx.clock.now())
            .map_err(|why| HttpOutcome::NotSent(Outcome::Withheld { why: why.to_string() }))
    }

    pub(super) async fn call(&self, prepared: &Prepared) -> Result<RequestBuilder, Outcome> {
        let withheld = |why: String| Outcome::Withheld { why };
        let url = Url::parse(&prepared.request.url).map_err(|error| withheld(format!("the URL: {error}")))?;
        let method = Method::from_bytes(prepared.method.as_str().as_bytes()).unwrap_or(Method::POST);
        let call = self.clients.request(method, url).await.map_err(|error| withheld(error.to_string()))?;
        let mut call = call.header(USER_AGENT, "carillon");
        let mut headers = reqwest::header::HeaderMap::new();
        for (name, value) in &prepared.request.headers {
            let header =
                HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_bytes(value.as_bytes()).ok());
            let (header, value) = header.ok_or_else(|| withheld(format!("the header {name} cannot be sent")))?;
            headers.insert(header, value);
        }
        call = call.headers(headers);
        Ok(if prepared.request.body.is_empty() { call } else { call.body(prepared.request.body.clone()) })
    }
}

pub(super) async fn exchange(call: RequestBuilder) -> Result<Received, HttpOutcome> {
    let response = call.send().await.map_err(|error| failure(&error))?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    // One byte more than is allowed shows that there is more.
    let body = read_body(response, BODY_LIMIT + 1).await.map_err(|error| failure(&error))?;
    let is_cut = body.len() > BODY_LIMIT;
    Ok(Received { status, headers, body, is_cut })
}

fn failure(error: &reqwest::Error) -> HttpOutcome {
    let why = describe(error);
    match error.is_connect() {
        // The service has not been asked: no further try makes it better, and other requests may reach it.
        _ if error.is_builder() => HttpOutcome::NotSent(Outcome::Withheld { why }),
        true if is_denied(error) => HttpOutcome::NotSent(Outcome::Withheld { why }),
        true => HttpOutcome::NotSent(Outcome::NotSent { why }),
        false => HttpOutcome::Unknown(why),
    }
}

/// A name that leads to an address which connections must not go to.
fn is_denied(error: &reqwest::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::PermissionDenied) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Ends when the run is to be ended. Any node may have noted it in the row.
async fn killed(cx: &Context, run_id: i64) {
    let mut pause = FIRST_LOOK;
    loop {
        tokio::time::sleep(pause).await;
        if cx.store.runs().is_kill_requested(run_id).await.unwrap_or(false) {
            return;
        }
        pause = (pause * 2).min(LAST_LOOK);
    }
}

/// What the log has in place of an answer.
pub(super) fn what(outcome: &HttpOutcome) -> String {
    match outcome {
        HttpOutcome::Unknown(why) => format!("no answer: {why}"),
        HttpOutcome::NotSent(outcome) => format!("not sent: {}", outcome.clone().into_reason()),
        _ => "the request was ended before its answer".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-44
    #[test]
    fn a_request_that_cannot_be_built_says_nothing_of_its_service() {
        // Which provider is installed does not matter.
        rustls::crypto::ring::default_provider().install_default().unwrap_or(());
        let error = reqwest::Client::new().get("no URL").build().unwrap_err();
        assert!(error.is_builder());
        assert!(matches!(failure(&error), HttpOutcome::NotSent(Outcome::Withheld { .. })));
    }
}
