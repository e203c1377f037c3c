//! A console below a path of its host (`--public-url https://host/carillon`). The program knows its own paths alone: here the path
//! is taken off requests, if the proxy passes it on, and put before the addresses in answers.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use actix_web::http::uri::PathAndQuery;
use actix_web::middleware::Next;

use crate::web::state::Shared;

/// The attributes of pages that hold addresses. In texts quotes are escaped, so nothing else looks like one.
const ATTRIBUTES: [&str; 6] = ["href", "action", "formaction", "data-names", "data-address", "data-base"];

/// Before anything looks at the path. A proxy may take the base path off itself.
pub async fn strip(
    state: Shared,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let base = state.config.path_prefix();
    if !base.is_empty()
        && let Some(rest) = request.path().strip_prefix(base)
        && (rest.is_empty() || rest.starts_with('/'))
    {
        let path = if rest.is_empty() { "/" } else { rest }.to_owned();
        set_path(&mut request, &path);
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

/// Another path for a request, which keeps its query.
pub fn set_path(request: &mut ServiceRequest, path: &str) {
    let text = match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = PathAndQuery::from_maybe_shared(text).ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
    }
}

/// Before an answer is compressed.
pub async fn prepend(
    state: Shared,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let mut response = next.call(request).await?.map_into_boxed_body();
    let base = state.config.path_prefix();
    if base.is_empty() {
        return Ok(response);
    }
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    if let Some(location) = location.filter(|location| is_own(location))
        && let Ok(value) = HeaderValue::try_from(format!("{base}{location}"))
    {
        response.headers_mut().insert(LOCATION, value);
    }
    let content = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !content.is_some_and(|content| content.starts_with("text/html")) {
        return Ok(response);
    }
    Ok(response.map_body(|_, body| match body.try_into_bytes() {
        Ok(page) => BoxBody::new(prefixed(&String::from_utf8_lossy(&page), base)),
        Err(body) => body,
    }))
}

/// An address of this console, without its host.
fn is_own(address: &str) -> bool {
    address.starts_with('/') && !address.starts_with("//")
}

fn prefixed(page: &str, base: &str) -> String {
    let mut out = String::with_capacity(page.len() + page.len() / 8);
    let mut rest = page;
    while let Some(at) = rest.find("=\"/") {
        let (before, after) = rest.split_at(at + 2);
        out += before;
        let is_address = ATTRIBUTES.iter().any(|name| before[..at].ends_with(&format!(" {name}")));
        if is_address && is_own(after) {
            out += base;
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::prefixed;

    // covers: R113
    #[test]
    fn addresses_of_a_page_get_the_path_and_other_texts_stay() {
        let page = r##"<a href="/">x</a><form action="/jobs/1"><link href="//other"><a href="#L1"><p title="/a">="/</p><a href="/?x=y">"##;
        let expected = r##"<a href="/c/">x</a><form action="/c/jobs/1"><link href="//other"><a href="#L1"><p title="/a">="/</p><a href="/c/?x=y">"##;
        assert_eq!(prefixed(page, "/c"), expected);
        assert_eq!(prefixed("", "/c"), "");
    }
}
