//! Headers that every answer of every listener carries: pages, the API, the executor protocol, health, and refusals.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;

use crate::web::state::Shared;

/// Scripts and styles from our own files only, no embedding in other pages, no address sent to other sites.
const POLICY: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Not `no-referrer`: then browsers would send forms with `Origin: null`.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
];
/// A year. Not for subdomains, which belong to others.
const TLS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The outermost middleware.
pub async fn guard(
    state: Shared,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let is_https = state.config.is_https();
    match next.call(request).await {
        Ok(response) => {
            let mut response = response.map_into_boxed_body();
            complete(response.headers_mut(), is_https);
            Ok(response)
        }
        Err(error) => {
            let mut response = error.error_response();
            complete(response.headers_mut(), is_https);
            Err(InternalError::from_response(error, response).into())
        }
    }
}

fn complete(headers: &mut HeaderMap, is_https: bool) {
    for (name, value) in POLICY {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_https {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, TLS_ONLY);
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}
