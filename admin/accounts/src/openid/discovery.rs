//! What the provider says of itself, with its keys: read when it is needed, kept for an hour, and read again when a token has a key
//! that is not among them.

use carillon_scheduler::Millis;
use openidconnect::IssuerUrl;
use parking_lot::Mutex;

use crate::openid::claims::Metadata;
use crate::openid::http;

const KEEP_MS: i64 = 3_600_000;
/// A provider whose tokens fit none of its keys is not asked again and again.
const REFRESH_STEP_MS: i64 = 10_000;

pub struct Discovery {
    issuer: IssuerUrl,
    client: reqwest::Client,
    /// Locked while it is read, so that many sign-ins at once ask once.
    known: tokio::sync::Mutex<Option<Known>>,
    failure: Mutex<Option<String>>,
}

#[derive(Clone)]
struct Known {
    metadata: Metadata,
    read_at: Millis,
}

impl Discovery {
    pub fn new(issuer: IssuerUrl, client: reqwest::Client) -> Self {
        Self { issuer, client, known: tokio::sync::Mutex::default(), failure: Mutex::default() }
    }

    /// The description, at most an hour old; an older one if the provider does not answer.
    ///
    /// # Errors
    /// The provider has never answered.
    pub async fn metadata(&self, now: Millis) -> Result<Metadata, String> {
        self.at_most(KEEP_MS, now).await
    }

    /// The description with the keys of now.
    ///
    /// # Errors
    /// As [`metadata`](Self::metadata).
    pub async fn refreshed(&self, now: Millis) -> Result<Metadata, String> {
        self.at_most(REFRESH_STEP_MS, now).await
    }

    /// Why the last attempt to read it has failed.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    async fn at_most(&self, age: i64, now: Millis) -> Result<Metadata, String> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| now - known.read_at < age) {
            return Ok(known.metadata.clone());
        }
        let send = |request| http::send(self.client.clone(), request);
        let read = Metadata::discover_async(self.issuer.clone(), &send).await;
        let failure = read.as_ref().err().map(|error| chain(error));
        self.failure.lock().clone_from(&failure);
        match (read, known.as_ref()) {
            (Ok(metadata), _) => {
                *known = Some(Known { metadata: metadata.clone(), read_at: now });
                Ok(metadata)
            }
            (Err(_), Some(old)) => Ok(old.metadata.clone()),
            (Err(_), None) => Err(failure.unwrap_or_default()),
        }
    }
}

/// An error with its causes: `request failed` alone helps no operator.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.ends_with(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}
