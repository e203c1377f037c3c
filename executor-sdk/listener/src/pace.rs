//! A request's body that must come at a certain pace.

use std::io;
use std::time::Duration;

use actix_web::error::PayloadError;
use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use crate::connection::Connection;

/// For a whole body.
const TOTAL: Duration = Duration::from_secs(30);
/// Before the speed is checked.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes per second.
const PACE: u64 = 1 << 10;

type Piece = Result<Bytes, PayloadError>;

/// The time since its beginning at which a body with `got` bytes must have continued.
fn allowed(got: u64) -> Duration {
    (GRACE + Duration::from_millis(got * 1000 / PACE)).min(TOTAL)
}

/// The same body. A piece that `take` refuses ends it with that error; one that comes too slowly ends it with an error, and cuts
/// the connection.
pub fn paced(
    body: impl Stream<Item = Piece> + Unpin,
    connection: Option<Connection>,
    take: impl Fn(usize) -> io::Result<()>,
) -> impl Stream<Item = Piece> {
    let begun = Instant::now();
    let start = Some((body, 0_u64, connection, take));
    stream::unfold(start, move |state| async move {
        let (mut body, got, connection, take) = state?;
        match timeout_at(begun + allowed(got), body.next()).await {
            Ok(Some(Ok(piece))) => {
                if let Err(error) = take(piece.len()) {
                    return Some((Err(PayloadError::Io(error)), None));
                }
                let got = got + piece.len() as u64;
                Some((Ok(piece), Some((body, got, connection, take))))
            }
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(_) => {
                if let Some(connection) = &connection {
                    connection.cut();
                }
                let error = io::Error::new(io::ErrorKind::TimedOut, "the body came too slowly");
                Some((Err(PayloadError::Io(error)), None))
            }
        }
    })
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
