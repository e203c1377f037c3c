//! The trace context of a request.

use carillon_scheduler::Traceparent;

use crate::web::api::error::Error;
use crate::web::from_request::from_request;

/// The value of `traceparent`. What is no trace context is ignored, as the standard asks.
pub struct Trace(pub Option<Traceparent>);

from_request!(Trace: Error, |request| {
    let value = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    Ok(Self(value.and_then(Traceparent::parse)))
});
