//! Talking to the admins: the first one that accepts is enough.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use carillon_protocol::{Verdict, headers, join_url, parse_answer};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::Error;

/// An admin that cannot store a result holds the request for 2.5 s and cuts it; so this must be longer.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

pub(crate) struct AdminClient {
    http: reqwest::Client,
    bases: Vec<String>,
    /// Index of the admin that accepted last.
    preferred: AtomicUsize,
}

/// Which process and which journal an executor is.
pub(crate) struct Identity<'a> {
    pub(crate) boot_id: &'a str,
    pub(crate) journal_id: &'a str,
}

impl AdminClient {
    /// `token` and `app` go with every request, so do `identity` and what the executor says of itself.
    pub(crate) fn new(
        bases: Vec<String>,
        token: &str,
        app: &str,
        identity: Identity<'_>,
        said: &[(&'static str, String)],
    ) -> Result<Self, Error> {
        let mut all = HeaderMap::new();
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let said = said.iter().map(|(name, value)| (*name, *name, value.as_str()));
        let own = [
            ("token", headers::TOKEN, token),
            ("app", headers::APP, app),
            ("boot id", headers::BOOT_ID, identity.boot_id),
            ("journal id", headers::JOURNAL_ID, identity.journal_id),
            ("capabilities", headers::CAPABILITIES, headers::CAPABILITY_IDEM),
        ];
        for (setting, name, value) in own.into_iter().chain(said) {
            let problem = || Error::setting(setting, "has characters that no HTTP header may have");
            let mut value = HeaderValue::from_str(value).map_err(|_| problem())?;
            value.set_sensitive(name == headers::TOKEN);
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| problem())?;
            all.insert(name, value);
        }
        install_tls_provider();
        let http = reqwest::Client::builder()
            .default_headers(all)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_LIMIT)
            .timeout(REQUEST_LIMIT)
            .pool_idle_timeout(Duration::from_secs(30))
            .build()
            .map_err(|error| Error::setting("admin", error.to_string()))?;
        Ok(Self { http, bases, preferred: AtomicUsize::new(0) })
    }

    /// Posts to one admin after the other, until one accepts.
    ///
    /// # Errors
    /// Why none did, admin by admin.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>) -> Result<(), NotTaken> {
        let first = self.preferred.load(Ordering::Relaxed);
        let mut not_taken = NotTaken::default();
        for step in 0..self.bases.len() {
            let index = (first + step) % self.bases.len();
            match self.post_to(&self.bases[index], path, body.clone()).await {
                Ok(()) => {
                    self.preferred.store(index, Ordering::Relaxed);
                    return Ok(());
                }
                Err((reason, is_wrong_token)) => {
                    let reason = format!("{}: {reason}", self.bases[index]);
                    not_taken.reasons.push(reason);
                    not_taken.wrong_token |= is_wrong_token;
                }
            }
        }
        Err(not_taken)
    }

    /// The error is a reason, and whether it is the access token.
    async fn post_to(&self, base: &str, path: &str, body: Vec<u8>) -> Result<(), (String, bool)> {
        let broken = |error: reqwest::Error| (chain(&error), false);
        let request = self.http.post(join_url(base, path)).body(body);
        let answer = request.send().await.map_err(broken)?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(broken)?;
        let verdict = parse_answer(status, &body);
        let is_wrong_token = verdict.is_wrong_token();
        match verdict {
            Verdict::Accepted { .. } => Ok(()),
            Verdict::Refused { message, .. } => Err((format!("refused: {message}"), is_wrong_token)),
            Verdict::Unclear { why } => Err((why, false)),
        }
    }
}

/// Why no admin has taken a request.
#[derive(Debug, Default)]
pub(crate) struct NotTaken {
    reasons: Vec<String>,
    /// An admin has refused the access token.
    pub(crate) wrong_token: bool,
}

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.reasons.join("; "))?;
        if self.wrong_token {
            f.write_str("; check that token() is the admin's access token (CARILLON_ACCESS_TOKEN)")?;
        }
        Ok(())
    }
}

/// With two TLS providers in one program, rustls panics at the first connection unless one was chosen.
fn install_tls_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

/// The text of an error and its causes, without the URL that reqwest repeats in it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
