//! HTTP requests to the admins: one admin that accepts is enough.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use carillon_protocol::{Verdict, headers, join_url, parse_answer};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::credentials::Credentials;
use crate::certificates::Certificates;
use crate::error::Error;

/// An admin that cannot store a result holds the request for 2.5 s before it cuts the connection; this is longer.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);
/// Where results go.
pub(crate) const CALLBACK_PATH: &str = "/api/callback";
/// Begins the paths of heartbeats and deregistrations.
const REGISTRY_PATHS: &str = "/api/registry";
const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// Status of a proxy that limits requests: a later one may pass.
const TOO_MANY_REQUESTS: i32 = 429;

pub(crate) struct AdminClient {
    http: reqwest::Client,
    bases: Vec<String>,
    credentials: Credentials,
    /// Those of every request, beside the credential.
    headers: HeaderMap,
    /// Index of the admin that accepted last.
    preferred: AtomicUsize,
}

/// Which process and which journal an executor is, and what it can do.
pub(crate) struct Identity<'a> {
    pub(crate) boot_id: &'a str,
    pub(crate) journal_id: &'a str,
    /// See [`headers::CAPABILITIES`].
    pub(crate) capabilities: &'a str,
}

impl AdminClient {
    /// Every request carries a credential, `app`, `identity` and the headers of the announcement.
    pub(crate) fn new(
        bases: Vec<String>,
        credentials: Credentials,
        app: &str,
        identity: Identity<'_>,
        announcement: &[(&'static str, String)],
        certificates: &Certificates,
    ) -> Result<Self, Error> {
        let mut all = HeaderMap::new();
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let announced = announcement.iter().map(|(name, value)| (*name, *name, value.as_str()));
        let own = [
            ("app", headers::APP, app),
            ("boot id", headers::BOOT_ID, identity.boot_id),
            ("journal id", headers::JOURNAL_ID, identity.journal_id),
            ("capabilities", headers::CAPABILITIES, identity.capabilities),
        ];
        for (setting, name, value) in own.into_iter().chain(announced) {
            let problem = || Error::setting(setting, "has characters that no HTTP header may have");
            let value = HeaderValue::from_str(value).map_err(|_| problem())?;
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| problem())?;
            all.insert(name, value);
        }
        install_tls_provider();
        let http = certificates
            .apply(reqwest::Client::builder())?
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_LIMIT)
            .timeout(REQUEST_LIMIT)
            .pool_idle_timeout(Duration::from_secs(30))
            .build()
            .map_err(|error| Error::setting("admin", error.to_string()))?;
        Ok(Self { http, bases, credentials, headers: all, preferred: AtomicUsize::new(0) })
    }

    /// Posts to the admins in turn until one accepts, beginning with the one that accepted last. Returns the payload of the answer as its
    /// JSON, if there is one.
    ///
    /// # Errors
    /// The reason of each admin, if none accepts.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>) -> Result<Option<String>, PostError> {
        self.post_within(path, body, REQUEST_LIMIT).await
    }

    /// The same, with a limit of time for each admin.
    pub(crate) async fn post_within(
        &self,
        path: &str,
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<Option<String>, PostError> {
        let first = self.preferred.load(Ordering::Relaxed);
        let mut failure = PostError::default();
        for step in 0..self.bases.len() {
            let index = (first + step) % self.bases.len();
            match self.post_to(&self.bases[index], path, body.clone(), limit).await {
                Ok(payload) => {
                    self.preferred.store(index, Ordering::Relaxed);
                    return Ok(payload);
                }
                Err(problem) => failure.add(&self.bases[index], problem),
            }
        }
        Err(failure)
    }

    /// With the next access token if the admin refuses one.
    async fn post_to(&self, base: &str, path: &str, body: Vec<u8>, limit: Duration) -> Result<Option<String>, Problem> {
        let mut refusal = Problem::WrongToken(String::new());
        for index in self.credentials.order(path.starts_with(REGISTRY_PATHS)) {
            match self.post_with(index, base, path, body.clone(), limit).await {
                Ok(payload) => {
                    self.credentials.set_accepted(index);
                    return Ok(payload);
                }
                Err(Problem::WrongToken(reason)) => refusal = Problem::WrongToken(reason),
                Err(problem) => return Err(problem),
            }
        }
        Err(refusal)
    }

    async fn post_with(
        &self,
        index: usize,
        base: &str,
        path: &str,
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<Option<String>, Problem> {
        let unclear = |error: reqwest::Error| Problem::Unclear(root_cause(&error));
        let (name, credential) = self.credentials.header(index, path, &self.headers, &body);
        let request = self.http.post(join_url(base, path)).headers(self.headers.clone()).header(name, credential);
        let request = request.body(body).timeout(limit);
        let answer = request.send().await.map_err(unclear)?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(unclear)?;
        let verdict = parse_answer(status, &body);
        let is_wrong_token = verdict.is_wrong_token();
        match verdict {
            Verdict::Accepted { content, .. } => Ok(content),
            Verdict::Refused { message, .. } if is_wrong_token => Err(Problem::WrongToken(message)),
            Verdict::Refused { code, message } => Err(Problem::Refused { code, message }),
            Verdict::Unclear { why } => Err(Problem::Unclear(why)),
        }
    }
}

/// Why one admin did not accept a request.
enum Problem {
    WrongToken(String),
    Refused { code: i32, message: String },
    Unclear(String),
}

impl Problem {
    /// Whether the admin does not know the request's path: HTTP 404, or the answer of a Java admin.
    fn is_unknown_path(&self) -> bool {
        matches!(self, Self::Refused { code, message } if *code == 404 || message.starts_with("invalid request, uri-mapping("))
    }
}

/// Why no admin accepted a request.
#[derive(Debug, Default)]
pub(crate) struct PostError {
    reasons: Vec<String>,
    /// An admin has refused the access token.
    pub(crate) is_wrong_token: bool,
    /// Of the first admin that refused the request itself, for a reason that a repetition does not change.
    pub(crate) refusal: Option<String>,
    /// Number of admins that do not know the path.
    unknown_paths: usize,
}

impl PostError {
    /// Whether each admin has answered that it does not know the path.
    pub(crate) fn is_unknown_path(&self) -> bool {
        self.unknown_paths > 0 && self.unknown_paths == self.reasons.len()
    }

    fn add(&mut self, base: &str, problem: Problem) {
        let is_unknown_path = problem.is_unknown_path();
        self.unknown_paths += usize::from(is_unknown_path);
        let reason = match problem {
            Problem::WrongToken(message) => {
                self.is_wrong_token = true;
                format!("refused: {message}")
            }
            Problem::Refused { code, message } => {
                let reason = format!("refused: {message}");
                if !is_unknown_path && code != TOO_MANY_REQUESTS {
                    self.refusal.get_or_insert(message);
                }
                reason
            }
            Problem::Unclear(why) => why,
        };
        self.reasons.push(format!("{base}: {reason}"));
    }
}

impl fmt::Display for PostError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.reasons.join("; "))?;
        if self.is_wrong_token {
            f.write_str("; check that token() is the admin's access token (CARILLON_ACCESS_TOKEN)")?;
        }
        Ok(())
    }
}

/// With two TLS providers in one program, rustls panics at the first connection unless one is installed.
fn install_tls_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

/// The innermost cause of an error; reqwest's own text repeats the URL.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
