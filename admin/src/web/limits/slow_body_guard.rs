//! Limits on a request before its sender is known: the size of its head, and the speed and memory of its body. A client that
//! sends a byte now and then is disconnected.

use std::io;
use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_ENCODING, HeaderMap};
use actix_web::middleware::Next;
use actix_web::{HttpMessage as _, HttpResponse};
use carillon_listener::{Connection, paced};

use crate::web::executor_api::paths;
use crate::web::limits::body_memory::Share;
use crate::web::state::Shared;

/// Bytes of the request line and all headers. Checked after they have been read: actix-http reads up to 128 KiB and 96 headers
/// before it passes a request on, refuses more, and has no setting for either.
const HEAD: usize = 16 << 10;

pub async fn guard(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    if let Some(refusal) = refusal(&request) {
        let (request, _) = request.into_parts();
        return Ok(ServiceResponse::new(request, refusal));
    }
    let share = request.app_data::<Shared>().map(|state| state.body_memory.share());
    if let Some(share) = &share {
        // Where a credential is found, the share is found too.
        request.extensions_mut().insert(share.clone());
    }
    let payload = request.take_payload();
    if !matches!(payload, Payload::None) {
        let connection = request.conn_data::<Connection>().cloned();
        let held = share.clone();
        let take = move |bytes| match held.as_ref().is_none_or(|share| share.take(bytes)) {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::OutOfMemory, FULL)),
        };
        request.set_payload(Payload::Stream { payload: Box::pin(paced(payload, connection, take)) });
    }
    let response = next.call(request).await?.map_into_boxed_body();
    // The handler may hold the whole body until it returns.
    drop(response.request().extensions_mut().remove::<Arc<Share>>());
    drop(share);
    Ok(response)
}

fn refusal(request: &ServiceRequest) -> Option<HttpResponse> {
    if head(request) > HEAD {
        let mut response = HttpResponse::RequestHeaderFieldsTooLarge();
        let text = "the request line and its headers have more than 16 KiB\n";
        return Some(response.force_close().body(text));
    }
    // Executors get an answer of their protocol, and only after their token was checked.
    if is_encoded(request.headers()) && !paths::is_path(request.path()) {
        let mut response = HttpResponse::UnsupportedMediaType();
        return Some(response.force_close().body(format!("{ENCODED}\n")));
    }
    None
}

/// The answer to an encoded body.
pub const ENCODED: &str = "a body with a Content-Encoding is not taken; send it as it is";

/// Whether the body would have to be decompressed. actix-web does so by itself, before it checks any limit: a few KiB can
/// become 100 MiB. No client of the executor protocol is known to send a compressed body.
pub fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether a body was refused because of the limit on the memory of all bodies.
pub fn is_out_of_memory(error: &actix_web::Error) -> bool {
    matches!(
        error.as_error::<PayloadError>(),
        Some(PayloadError::Io(error)) if error.kind() == io::ErrorKind::OutOfMemory
    )
}

fn head(request: &ServiceRequest) -> usize {
    let uri = request.uri();
    let line = uri.path().len() + uri.query().map_or(0, str::len);
    let headers = request.headers().iter();
    line + headers.map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>()
}

/// The answer to a body that does not fit in memory.
pub const FULL: &str = "this node is reading as many large requests as it has memory for; try again";
