//! The HTTP client of the channels. Names reqwest; nothing else of this crate does.

use std::time::Duration;

use carillon_engine::outgoing::{Connector, HttpClients};
use carillon_scheduler::Millis;
use chrono::DateTime;
use reqwest::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Response, Url};

use crate::channel::attempt::{Answer, Call};

/// Kept of an answer, in bytes.
const ANSWER_LIMIT: usize = 2_000;

pub struct HttpClient {
    clients: HttpClients,
}

impl HttpClient {
    /// # Errors
    /// No TLS is at hand.
    pub fn new(connector: Connector) -> Result<Self, String> {
        // They follow no redirect: one could lead to another host than the one that an administrator has named.
        let agent = concat!("Carillon/", env!("CARGO_PKG_VERSION"));
        Ok(Self { clients: HttpClients::new(connector, move |client| client.user_agent(agent))? })
    }

    /// # Errors
    /// There is no answer; the text says why, without the URL, which may hold a secret.
    pub async fn post(&self, call: Call, now: Millis) -> Result<Answer, String> {
        let url = Url::parse(&call.url).map_err(|error| error.to_string())?;
        let request = self.clients.post(url).await.map_err(|error| error.to_string())?;
        let mut request = request.header(CONTENT_TYPE, "application/json; charset=utf-8").body(call.body);
        for (name, value) in call.headers {
            let value = HeaderValue::from_str(&value).map_err(|error| format!("the header {name}: {error}"))?;
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(describe)?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| pause(value.to_str().ok()?, now));
        let body = beginning(response).await?;
        Ok(Answer { status, body, retry_after })
    }
}

/// `Retry-After`: seconds, or a date.
fn pause(value: &str, now: Millis) -> Option<Duration> {
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = DateTime::parse_from_rfc2822(value).ok()?.timestamp_millis();
    u64::try_from(until - now).ok().map(Duration::from_millis)
}

async fn beginning(mut response: Response) -> Result<String, String> {
    let mut body = vec![];
    while let Some(chunk) = response.chunk().await.map_err(describe)? {
        body.extend_from_slice(&chunk);
        if body.len() >= ANSWER_LIMIT {
            body.truncate(ANSWER_LIMIT);
            break;
        }
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_or_a_date() {
        let now = 784_111_747_000;
        assert_eq!(pause("30", now), Some(Duration::from_secs(30)));
        assert_eq!(pause("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(Duration::from_secs(30)));
        assert_eq!(pause("Sun, 06 Nov 1994 08:49:00 GMT", now), None, "it is over");
        assert_eq!(pause("soon", now), None);
    }
}
