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
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

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

    /// Posts to the admins in turn until one accepts, beginning with the one that accepted last.
    ///
    /// # Errors
    /// The reason of each admin, if none accepts.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>) -> Result<(), PostError> {
        let first = self.preferred.load(Ordering::Relaxed);
        let mut failure = PostError::default();
        for step in 0..self.bases.len() {
            let index = (first + step) % self.bases.len();
            match self.post_to(&self.bases[index], path, body.clone()).await {
                Ok(()) => {
                    self.preferred.store(index, Ordering::Relaxed);
                    return Ok(());
                }
                Err((reason, is_wrong_token)) => {
                    let reason = format!("{}: {reason}", self.bases[index]);
                    failure.reasons.push(reason);
                    failure.is_wrong_token |= is_wrong_token;
                }
            }
        }
        Err(failure)
    }

    /// With the next access token if the admin refuses one. The error is the reason, and whether it refused all tokens.
    async fn post_to(&self, base: &str, path: &str, body: Vec<u8>) -> Result<(), (String, bool)> {
        let mut refusal = (String::new(), true);
        for index in self.credentials.order(path != CALLBACK_PATH) {
            match self.post_with(index, base, path, body.clone()).await {
                Ok(()) => {
                    self.credentials.set_accepted(index);
                    return Ok(());
                }
                Err((reason, true)) => refusal = (reason, true),
                Err(failure) => return Err(failure),
            }
        }
        Err(refusal)
    }

    async fn post_with(&self, index: usize, base: &str, path: &str, body: Vec<u8>) -> Result<(), (String, bool)> {
        let unclear = |error: reqwest::Error| (root_cause(&error), false);
        let (name, credential) = self.credentials.header(index, path, &self.headers, &body);
        let request = self.http.post(join_url(base, path)).headers(self.headers.clone()).header(name, credential);
        let request = request.body(body);
        let answer = request.send().await.map_err(unclear)?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(unclear)?;
        let verdict = parse_answer(status, &body);
        let is_wrong_token = verdict.is_wrong_token();
        match verdict {
            Verdict::Accepted { .. } => Ok(()),
            Verdict::Refused { message, .. } => Err((format!("refused: {message}"), is_wrong_token)),
            Verdict::Unclear { why } => Err((why, false)),
        }
    }
}

/// Why no admin accepted a request.
#[derive(Debug, Default)]
pub(crate) struct PostError {
    reasons: Vec<String>,
    /// An admin has refused the access token.
    pub(crate) is_wrong_token: bool,
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
