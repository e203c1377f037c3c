//! The id of a request, which its error, its log lines and its audit entries carry.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::{HttpMessage as _, HttpRequest};

pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Marks each answer and its log lines.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

impl RequestId {
    pub fn new() -> Self {
        Self(format!("{:016x}", rand::random::<u64>()))
    }

    /// None: the path has no ids.
    pub fn of(request: &HttpRequest) -> Option<String> {
        request.extensions().get::<Self>().map(|id| id.0.clone())
    }

    pub fn put_into(&self, headers: &mut HeaderMap) {
        // Hexadecimal digits are always a value of a header.
        if let Ok(value) = HeaderValue::from_str(&self.0) {
            headers.insert(HEADER, value);
        }
    }
}
