//! Requests to the provider, with the HTTP client that the rest of the program uses.

use std::io;
use std::time::Duration;

use openidconnect::{HttpRequest, HttpResponse, http};

/// A description, a set of keys or a token is far smaller.
const MAX_BYTES: usize = 1 << 20;

/// No redirects: what answers is the provider of the settings. No proxy of the environment: as all connections of this program.
/// `authorities`: in place of those that this machine trusts.
pub fn client(authorities: Option<Vec<reqwest::Certificate>>) -> reqwest::Result<reqwest::Client> {
    let builder = |authorities: Option<Vec<reqwest::Certificate>>| {
        let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
        let builder = authorities.into_iter().fold(builder, |builder, all| builder.tls_certs_only(all));
        builder.connect_timeout(Duration::from_secs(5)).timeout(Duration::from_secs(10)).build()
    };
    // On a machine without authorities the provider's certificate is refused when it is asked, with that reason.
    match authorities {
        None => builder(None).or_else(|_| builder(Some(vec![]))),
        given => builder(given),
    }
}

pub async fn send(client: reqwest::Client, request: HttpRequest) -> io::Result<HttpResponse> {
    let (parts, body) = request.into_parts();
    let sent = client.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body);
    let mut answer = sent.send().await.map_err(io::Error::other)?;
    let mut response = http::Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    let mut bytes = vec![];
    while let Some(part) = answer.chunk().await.map_err(io::Error::other)? {
        if bytes.len() + part.len() > MAX_BYTES {
            return Err(io::Error::other(format!("the answer has more than {MAX_BYTES} bytes")));
        }
        bytes.extend_from_slice(&part);
    }
    response.body(bytes).map_err(io::Error::other)
}
