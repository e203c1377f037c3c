//! What a request may cost before anything is known of its sender: the size of its head, how slowly its body may come, and
//! how much of it is held. A client that sends a byte now and then is cut off.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_ENCODING, HeaderMap};
use actix_web::middleware::Next;
use actix_web::{HttpMessage as _, HttpResponse, web};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use super::Shared;
use super::executor_api::{self, Connection};
use super::held::Share;

/// Of the request line and all headers. Looked at when they are there: actix-http reads up to 128 KiB and 96 headers before it
/// hands a request on, and has no setting for either. More than that it refuses itself.
const HEAD: usize = 16 << 10;
/// A whole body.
const TOTAL: Duration = Duration::from_secs(30);
/// Before the pace is looked at.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes a second.
const PACE: u64 = 1 << 10;

pub async fn guard(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    if let Some(refusal) = refusal(&request) {
        let (request, _) = request.into_parts();
        return Ok(ServiceResponse::new(request, refusal));
    }
    let share = request.app_data::<Shared>().map(|state| state.body_memory.share());
    let payload = request.take_payload();
    if !matches!(payload, Payload::None) {
        let connection = request.conn_data::<Connection>().cloned();
        let cut = move || {
            if let Some(connection) = &connection {
                connection.cut();
            }
        };
        request.set_payload(Payload::Stream { payload: Box::pin(paced(payload, share.clone(), cut)) });
    }
    let response = next.call(request).await?.map_into_boxed_body();
    // Until here the handler may have held the whole body.
    drop(share);
    Ok(response)
}

fn refusal(request: &ServiceRequest) -> Option<HttpResponse> {
    if head(request) > HEAD {
        let mut response = HttpResponse::RequestHeaderFieldsTooLarge();
        let text = "the request line and its headers have more than 16 KiB\n";
        return Some(response.force_close().body(text));
    }
    // Executors are answered in the words of their protocol, and only after their token was looked at.
    if is_encoded(request.headers()) && !executor_api::is_path(request.path()) {
        let mut response = HttpResponse::UnsupportedMediaType();
        return Some(response.force_close().body(format!("{ENCODED}\n")));
    }
    None
}

/// Said of a body that is refused because it is encoded.
pub const ENCODED: &str = "a body with a Content-Encoding is not taken; send it as it is";

/// Whether the body would have to be inflated. actix-web does that by itself, before it looks at any limit: a few KiB can
/// become some 100 MiB. No client of the executor protocol is known to send a compressed body.
pub fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether a body could not be read because this node holds as much of others as it may.
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

type Piece = Result<web::Bytes, PayloadError>;

/// By when, after its beginning, more of a body must come of which so many bytes are there.
fn allowed(got: u64) -> Duration {
    (GRACE + Duration::from_millis(got * 1000 / PACE)).min(TOTAL)
}

/// The same body; ends with an error when there is no room for it, and with an error and `cut` when it comes too slowly.
fn paced(
    body: impl Stream<Item = Piece> + Unpin,
    share: Option<Arc<Share>>,
    cut: impl Fn(),
) -> impl Stream<Item = Piece> {
    let begun = Instant::now();
    let start = Some((body, 0_u64, share, cut));
    stream::unfold(start, move |state| async move {
        let (mut body, got, share, cut) = state?;
        match timeout_at(begun + allowed(got), body.next()).await {
            Ok(Some(Ok(piece))) => {
                if share.as_ref().is_some_and(|share| !share.take(piece.len())) {
                    return Some((failed(io::ErrorKind::OutOfMemory, FULL), None));
                }
                let got = got + piece.len() as u64;
                Some((Ok(piece), Some((body, got, share, cut))))
            }
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(_) => {
                cut();
                let text = "the body came too slowly";
                Some((failed(io::ErrorKind::TimedOut, text), None))
            }
        }
    })
}

/// Said of a body that there is no room for.
pub const FULL: &str = "this node is reading as many large requests as it has memory for; try again";

fn failed(kind: io::ErrorKind, text: &'static str) -> Piece {
    Err(PayloadError::Io(io::Error::new(kind, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: H26
    #[test]
    fn how_long_a_body_may_take() {
        let second = Duration::from_secs(1);
        assert_eq!(allowed(0), 5 * second);
        assert_eq!(allowed(512), 5 * second + second / 2);
        assert_eq!(allowed(10 << 10), 15 * second);
        assert_eq!(allowed(8 << 20), 30 * second, "in total");
        assert_eq!(allowed(u64::MAX / 2000), 30 * second);
    }
}
