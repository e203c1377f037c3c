//! From an accepted socket to a connection on which requests come: counted, and with TLS after its handshake.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::connection::Connection;
use crate::connection_limiter::ConnectionLimiter;
use crate::stream::{Io, Stream};
use crate::tls::Tls;

const HANDSHAKE: Duration = Duration::from_secs(10);
/// The first byte of a TLS record with a handshake. No HTTP request begins with it.
const TLS_HANDSHAKE: u8 = 0x16;

pub(crate) async fn accept(
    tcp: TcpStream,
    limiter: Arc<ConnectionLimiter>,
    tls: Option<Arc<Tls>>,
) -> io::Result<(Io, Option<SocketAddr>)> {
    let peer = tcp.peer_addr()?;
    let refused = || io::Error::other("too many connections");
    let stream = Stream(Connection::admit(&limiter, tcp, peer.ip()).ok_or_else(refused)?);
    let io = match tls {
        None => Io::Plain(stream),
        Some(tls) => {
            let shaken = timeout(HANDSHAKE, handshake(stream, &tls)).await;
            shaken.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?
        }
    };
    Ok((io, Some(peer)))
}

async fn handshake(stream: Stream, tls: &Tls) -> io::Result<Io> {
    let mut first = [0];
    if stream.0.activity().tcp.peek(&mut first).await? == 1 && first[0] != TLS_HANDSHAKE {
        refuse_plain(stream).await?;
        return Err(io::Error::other("plain HTTP"));
    }
    let shaken = TlsAcceptor::from(tls.current()).accept(stream).await;
    let stream = shaken.inspect_err(|error| tracing::debug!(%error, "a TLS handshake failed"))?;
    Ok(Io::Tls(Box::new(stream)))
}

/// Somebody has forgotten the `s` of `https`: a closed connection would not say so.
async fn refuse_plain(mut stream: Stream) -> io::Result<()> {
    let text = "this port takes HTTPS only: write https:// in the address\n";
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    // What is left unread when the socket closes would reset the connection, and the answer might be lost.
    let mut rest = [0; 4096];
    let drained = async { while matches!(stream.read(&mut rest).await, Ok(bytes) if bytes > 0) {} };
    let _ = timeout(Duration::from_secs(1), drained).await;
    Ok(())
}
