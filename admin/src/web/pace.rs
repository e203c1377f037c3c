//! How large a request's head may be and how slowly its body may come: whoever sends a byte now and then is cut off.

use std::io;
use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::middleware::Next;
use actix_web::{HttpMessage as _, HttpResponse, web};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use super::api::executor::Connection;

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
    if head(&request) > HEAD {
        let (request, _) = request.into_parts();
        let refusal = HttpResponse::RequestHeaderFieldsTooLarge()
            .force_close()
            .body("the request line and its headers have more than 16 KiB\n");
        return Ok(ServiceResponse::new(request, refusal));
    }
    let payload = request.take_payload();
    if !matches!(payload, Payload::None) {
        let connection = request.conn_data::<Connection>().cloned();
        let cut = move || {
            if let Some(connection) = &connection {
                connection.cut();
            }
        };
        request.set_payload(Payload::Stream {
            payload: Box::pin(paced(payload, cut)),
        });
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

fn head(request: &ServiceRequest) -> usize {
    let uri = request.uri();
    let line = uri.path().len() + uri.query().map_or(0, str::len);
    let headers = request.headers().iter();
    line + headers
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum::<usize>()
}

type Piece = Result<web::Bytes, PayloadError>;

/// By when, after its beginning, more of a body must come of which so many bytes are there.
fn allowed(got: u64) -> Duration {
    (GRACE + Duration::from_millis(got * 1000 / PACE)).min(TOTAL)
}

/// The same body; ends with an error, and `cut`, when it comes too slowly.
fn paced(body: impl Stream<Item = Piece> + Unpin, cut: impl Fn()) -> impl Stream<Item = Piece> {
    let begun = Instant::now();
    stream::unfold(Some((body, 0_u64, cut)), move |state| async move {
        let (mut body, got, cut) = state?;
        match timeout_at(begun + allowed(got), body.next()).await {
            Ok(Some(Ok(piece))) => {
                let got = got + piece.len() as u64;
                Some((Ok(piece), Some((body, got, cut))))
            }
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(_) => {
                cut();
                let slow = io::Error::new(io::ErrorKind::TimedOut, "the body came too slowly");
                Some((Err(PayloadError::Io(slow)), None))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h26_how_long_a_body_may_take() {
        let second = Duration::from_secs(1);
        assert_eq!(allowed(0), 5 * second);
        assert_eq!(allowed(512), 5 * second + second / 2);
        assert_eq!(allowed(10 << 10), 15 * second);
        assert_eq!(allowed(8 << 20), 30 * second, "in total");
        assert_eq!(allowed(u64::MAX / 2000), 30 * second);
    }
}
