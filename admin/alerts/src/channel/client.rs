//! The HTTP client of the channels. Names reqwest; nothing else of this crate does.

use std::time::Duration;

use carillon_engine::outgoing::Connector;
use reqwest::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, Url};

use crate::channel::attempt::{Answer, Call};

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const REQUEST_LIMIT: Duration = Duration::from_secs(15);
/// Kept of an answer, in bytes.
const ANSWER_LIMIT: usize = 2_000;

pub struct HttpClient {
    client: Client,
    connector: Connector,
}

impl HttpClient {
    /// # Errors
    /// No TLS is at hand.
    pub fn new(connector: Connector) -> Result<Self, String> {
        // It follows no redirect: one could lead to another host than the one that an administrator has named.
        let client = connector
            .client_builder()
            .connect_timeout(CONNECT_LIMIT)
            .timeout(REQUEST_LIMIT)
            .user_agent(concat!("Carillon/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { client, connector })
    }

    /// # Errors
    /// There is no answer; the text says why, without the URL, which may hold a secret.
    pub async fn post(&self, call: Call) -> Result<Answer, String> {
        let url = Url::parse(&call.url).map_err(|error| error.to_string())?;
        self.connector.check(&url).await.map_err(|error| error.to_string())?;
        let mut request = self.client.post(url).header(CONTENT_TYPE, "application/json; charset=utf-8").body(call.body);
        for (name, value) in call.headers {
            let value = HeaderValue::from_str(&value).map_err(|error| format!("the header {name}: {error}"))?;
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(describe)?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = beginning(response).await?;
        Ok(Answer { status, body, retry_after: retry_after.map(Duration::from_secs) })
    }
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
