//! Requests to the provider, with the HTTP client that the rest of the program uses.

use std::time::Duration;

use openidconnect::{HttpRequest, HttpResponse, http};

/// A description, a set of keys or a token is far smaller.
const MAX_BYTES: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Request(#[from] reqwest::Error),
    #[error("{0}")]
    Response(#[from] http::Error),
    #[error("the answer has more than {MAX_BYTES} bytes")]
    TooLarge,
}

/// No redirects: what answers is the provider of the settings. No proxy of the environment: as all connections of this program.
/// `authorities`: in place of those that this machine trusts.
pub fn client(authorities: Option<Vec<reqwest::Certificate>>) -> reqwest::Result<reqwest::Client> {
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    let builder = authorities.into_iter().fold(builder, |builder, all| builder.tls_certs_only(all));
    builder.connect_timeout(Duration::from_secs(5)).timeout(Duration::from_secs(10)).build()
}

pub async fn send(client: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, Error> {
    let (parts, body) = request.into_parts();
    let sent = client.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body);
    let mut answer = sent.send().await?;
    let mut response = http::Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    let mut bytes = vec![];
    while let Some(part) = answer.chunk().await? {
        if bytes.len() + part.len() > MAX_BYTES {
            return Err(Error::TooLarge);
        }
        bytes.extend_from_slice(&part);
    }
    Ok(response.body(bytes)?)
}
