//! Answers of the executor protocol, and the headers of its requests.

use actix_web::http::header::ContentType;
use actix_web::{HttpRequest, HttpResponse};
use carillon_protocol::Answer;

/// Characters of an id of an executor's process or journal.
const MAX_ID_CHARS: usize = 64;

pub fn answered(answer: &Answer) -> HttpResponse {
    // `ContentType::json()` exactly: one client refuses any other.
    HttpResponse::Ok().insert_header(ContentType::json()).body(serde_json::to_vec(answer).unwrap_or_default())
}

pub fn refused(message: impl Into<String>) -> HttpResponse {
    answered(&Answer::fail(message))
}

/// Of the id in a header, as much as its column holds.
pub fn id(request: &HttpRequest, name: &str) -> Option<String> {
    header(request, name).map(|id| id.chars().take(MAX_ID_CHARS).collect())
}

pub fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok().map(str::trim).filter(|value| !value.is_empty())
}
