//! Connections to executors that are kept between requests: plain HTTP/1.1, one request at a time on each.
//!
//! A connection is driven by the task that uses it, so a request costs no second task and no switch between two. An idle
//! connection belongs to no task: what the executor did to it meanwhile is seen when it is used next.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use reqwest::Url;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::executor::outcome::{Outcome, innermost, unknown};
use crate::outgoing::Connector;
use crate::runtime::lock;

/// Limits of each request.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub connect: Duration,
    pub request: Duration,
}

/// uvicorn closes an idle connection after 5 s; a request that meets the closing reads as "unknown".
const IDLE_LIMIT: Duration = Duration::from_secs(4);
/// Addresses that are remembered; above it all are forgotten with their connections.
const MOST_ADDRESSES: usize = 10_000;

/// The path of a run.
pub(crate) const RUN: &str = "run";

type Io = TokioIo<TcpStream>;

/// Where requests for one address go.
pub(crate) struct Target {
    /// Host and port to connect to.
    host: String,
    port: u16,
    /// The value of the header `Host`.
    authority: HeaderValue,
    /// Path of the base address, without a slash at its end.
    base: String,
    /// Of `run`, which most requests go to.
    run: Uri,
    idle: Mutex<Vec<Held>>,
}

struct Held {
    sender: SendRequest<Full<Bytes>>,
    connection: Pin<Box<http1::Connection<Io, Full<Bytes>>>>,
    /// The connection has ended.
    is_over: bool,
    used_at: Instant,
}

/// All addresses that requests were sent to.
pub(crate) struct HeldConnections {
    limits: Limits,
    connector: Connector,
    targets: Mutex<HashMap<String, Arc<Target>>>,
}

impl HeldConnections {
    pub(crate) fn new(limits: Limits, connector: Connector) -> Self {
        Self { limits, connector, targets: Mutex::default() }
    }

    /// None: the address is no `http://` URL with a host.
    pub(crate) fn target(&self, address: &str) -> Option<Arc<Target>> {
        let mut targets = lock(&self.targets);
        if let Some(target) = targets.get(address) {
            return Some(target.clone());
        }
        let target = Arc::new(Target::parse(address)?);
        if targets.len() >= MOST_ADDRESSES {
            targets.clear();
        }
        targets.insert(address.to_owned(), target.clone());
        Some(target)
    }

    /// Sends one request and reads at most `limit` bytes of the answer's body.
    ///
    /// # Errors
    /// [`Outcome::NotSent`] if no byte of the request was written, otherwise [`Outcome::Unknown`].
    pub(crate) async fn post(
        &self,
        target: &Target,
        path: &str,
        headers: HeaderMap,
        body: Vec<u8>,
        limit: usize,
    ) -> Result<(u16, Vec<u8>), Outcome> {
        let mut request = target.request(path, headers, body).map_err(|why| Outcome::NotSent { why })?;
        // From its first byte on a request without an answer is unknown.
        let is_written = AtomicBool::new(false);
        let exchange = async {
            while let Some(held) = target.take_idle() {
                match held.exchange(request, limit, &is_written).await {
                    Exchange::Answered(status, body, held) => {
                        target.keep(held);
                        return Ok((status, body));
                    }
                    Exchange::NotWritten(unsent) => request = unsent,
                    Exchange::Failed(outcome) => return Err(outcome),
                }
            }
            let held = self.connect(target).await?;
            match held.exchange(request, limit, &is_written).await {
                Exchange::Answered(status, body, held) => {
                    target.keep(held);
                    Ok((status, body))
                }
                Exchange::NotWritten(_) => Err(Outcome::NotSent { why: "the connection was closed".into() }),
                Exchange::Failed(outcome) => Err(outcome),
            }
        };
        match timeout(self.limits.request, exchange).await {
            Ok(done) => done,
            Err(_elapsed) if is_written.load(Ordering::Relaxed) => {
                Err(Outcome::Unknown { why: "no answer in time".into(), timed_out: true })
            }
            Err(_elapsed) => Err(Outcome::NotSent { why: "no connection in time".into() }),
        }
    }

    async fn connect(&self, target: &Target) -> Result<Held, Outcome> {
        let not_sent = |why: String| Outcome::NotSent { why };
        let connect = self.connector.connect(&target.host, target.port);
        let stream = match timeout(self.limits.connect, connect).await {
            Ok(stream) => stream.map_err(|error| not_sent(error.to_string()))?,
            Err(_elapsed) => return Err(not_sent("no connection in time".into())),
        };
        stream.set_nodelay(true).map_err(|error: io::Error| not_sent(error.to_string()))?;
        let shaken = http1::Builder::new().handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|error| not_sent(error.to_string()))?;
        Ok(Held { sender, connection: Box::pin(connection), is_over: false, used_at: Instant::now() })
    }
}

impl Target {
    fn parse(address: &str) -> Option<Self> {
        // The parser of the other requests, so that both go to the same place.
        let url = Url::parse(address).ok().filter(|url| url.scheme() == "http")?;
        let host = url.host_str()?;
        let port = url.port_or_known_default()?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let has_more = url.query().is_some() || url.fragment().is_some() || !url.username().is_empty();
        if has_more || url.password().is_some() {
            return None;
        }
        let base = url.path().trim_end_matches('/').to_owned();
        Some(Self {
            run: uri(&base, RUN).ok()?,
            // `connect` wants an IPv6 address without its brackets.
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            authority: HeaderValue::try_from(authority).ok()?,
            base,
            idle: Mutex::default(),
        })
    }

    fn request(&self, path: &str, mut headers: HeaderMap, body: Vec<u8>) -> Result<Request<Full<Bytes>>, String> {
        headers.insert(HOST, self.authority.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = match path {
            RUN => self.run.clone(),
            path => uri(&self.base, path)?,
        };
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// The connection that was used last, so that the others come to their end.
    fn take_idle(&self) -> Option<Held> {
        let mut idle = lock(&self.idle);
        let newest = idle.pop()?;
        if newest.used_at.elapsed() < IDLE_LIMIT {
            return Some(newest);
        }
        idle.clear();
        None
    }

    fn keep(&self, mut held: Held) {
        if held.is_over || held.sender.is_closed() {
            return;
        }
        held.used_at = Instant::now();
        let mut idle = lock(&self.idle);
        let old = idle.partition_point(|it| it.used_at.elapsed() >= IDLE_LIMIT);
        idle.drain(..old);
        idle.push(held);
    }
}

fn uri(base: &str, path: &str) -> Result<Uri, String> {
    Uri::try_from(format!("{base}/{path}")).map_err(|error| error.to_string())
}

enum Exchange {
    Answered(u16, Vec<u8>, Held),
    /// The executor had closed the connection before; here is the request again.
    NotWritten(Request<Full<Bytes>>),
    Failed(Outcome),
}

impl Held {
    /// `is_written` is set before the first byte can leave.
    async fn exchange(mut self, request: Request<Full<Bytes>>, limit: usize, is_written: &AtomicBool) -> Exchange {
        // What happened to the connection since its last use is seen here.
        if !self.is_ready().await {
            return Exchange::NotWritten(request);
        }
        is_written.store(true, Ordering::Relaxed);
        let answer = self.sender.try_send_request(request);
        let response = match self.drive(answer).await {
            Ok(response) => response,
            Err(mut error) => match error.take_message() {
                Some(unsent) => {
                    is_written.store(false, Ordering::Relaxed);
                    return Exchange::NotWritten(unsent);
                }
                None => return Exchange::Failed(unknown(innermost(&error.into_error()))),
            },
        };
        let status = response.status().as_u16();
        match self.read_body(response, limit).await {
            Ok((body, is_whole)) => {
                self.is_over |= !is_whole;
                Exchange::Answered(status, body, self)
            }
            Err(error) => Exchange::Failed(unknown(innermost(&error))),
        }
    }

    async fn is_ready(&mut self) -> bool {
        !self.is_over && {
            let Self { sender, connection, is_over, .. } = self;
            drive(connection, is_over, sender.ready()).await.is_ok() && !*is_over
        }
    }

    async fn drive<T>(&mut self, future: impl Future<Output = T>) -> T {
        drive(&mut self.connection, &mut self.is_over, future).await
    }

    /// The body, and whether it was read to its end.
    async fn read_body(&mut self, response: Response<Incoming>, limit: usize) -> hyper::Result<(Vec<u8>, bool)> {
        let (mut incoming, mut body) = (response.into_body(), Vec::new());
        while let Some(frame) = self.drive(incoming.frame()).await {
            if let Ok(data) = frame?.into_data() {
                let room = limit - body.len();
                body.extend_from_slice(&data[..data.len().min(room)]);
                if data.len() >= room {
                    return Ok((body, false));
                }
            }
        }
        Ok((body, true))
    }
}

/// Polls the connection along with what waits for it.
async fn drive<T>(
    connection: &mut Pin<Box<http1::Connection<Io, Full<Bytes>>>>,
    is_over: &mut bool,
    future: impl Future<Output = T>,
) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        if !*is_over && connection.as_mut().poll(context).is_ready() {
            *is_over = true;
        }
        future.as_mut().poll(context)
    })
    .await
}

#[cfg(test)]
#[path = "held_connections_tests.rs"]
mod tests;
