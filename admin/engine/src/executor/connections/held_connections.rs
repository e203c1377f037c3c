//! The idle connections of each executor's address, and the beginning of each request to it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::Url;
use tokio::time::{Instant, timeout};

use crate::executor::connections::answer::Answer;
use crate::executor::connections::connection::{Connection, Exchange};
use crate::executor::connections::request_headers::RequestHeaders;
use crate::executor::outcome::{Answered, Outcome, is_redirect, redirected, unknown};
use crate::outgoing::Connector;

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

/// Where requests for one address go.
pub(crate) struct Target {
    /// Host and port to connect to.
    host: String,
    port: u16,
    /// The value of the header `Host`.
    authority: String,
    /// Path of the base address, without a slash at its end.
    base: String,
    /// How requests of runs begin.
    run_start: String,
    idle: Mutex<Vec<Connection>>,
}

/// All addresses that requests were sent to.
pub(crate) struct HeldConnections {
    limits: Limits,
    connector: Connector,
    targets: Arc<Targets>,
}

#[derive(Default)]
struct Targets {
    by_address: Mutex<HashMap<String, Arc<Target>>>,
    /// A task closes what has been idle for too long. It ends with the last idle connection, so that an idle node does nothing.
    is_swept: AtomicBool,
}

impl HeldConnections {
    pub(crate) fn new(limits: Limits, connector: Connector) -> Self {
        Self { limits, connector, targets: Arc::default() }
    }

    /// None: the address is no `http://` URL with a host.
    pub(crate) fn target(&self, address: &str) -> Option<Arc<Target>> {
        let mut targets = self.targets.by_address.lock();
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
    /// [`Outcome::NotSent`] if no byte of the request was written, [`Outcome::Refused`] if the answer is a redirect, otherwise
    /// [`Outcome::Unknown`].
    pub(crate) async fn post(
        &self,
        target: &Target,
        path: &str,
        headers: &RequestHeaders,
        body: &[u8],
        limit: usize,
    ) -> Result<Answered, Outcome> {
        let request = target.request(path, headers, body);
        let is_written = AtomicBool::new(false);
        match timeout(self.limits.request, self.exchange(target, &request, limit, &is_written)).await {
            Ok(done) => done,
            Err(_elapsed) if is_written.load(Ordering::Relaxed) => {
                Err(Outcome::Unknown { why: "no answer in time".into() })
            }
            Err(_elapsed) => Err(Outcome::NotSent { why: "no connection in time".into() }),
        }
    }

    async fn exchange(
        &self,
        target: &Target,
        request: &[u8],
        limit: usize,
        is_written: &AtomicBool,
    ) -> Result<Answered, Outcome> {
        loop {
            let idle = target.take_idle();
            let is_new = idle.is_none();
            let mut connection = match idle {
                Some(idle) => idle,
                None => self.connect(target).await?,
            };
            match connection.exchange(request, limit, is_written).await {
                Exchange::Answered(answer) => {
                    if answer.keeps_connection {
                        target.keep(connection);
                        self.targets.sweep();
                    }
                    if is_redirect(answer.status) {
                        return Err(redirected(answer.status, answer.location.as_deref()));
                    }
                    let Answer { status, body, received_at, .. } = answer;
                    return Ok(Answered { status, body, received_at });
                }
                Exchange::NotWritten if is_new => {
                    return Err(Outcome::NotSent { why: "the connection was closed".into() });
                }
                Exchange::NotWritten => {}
                Exchange::Failed(error) => return Err(unknown(error.to_string())),
            }
        }
    }

    async fn connect(&self, target: &Target) -> Result<Connection, Outcome> {
        let not_sent = |why: String| Outcome::NotSent { why };
        let connect = self.connector.connect(&target.host, target.port);
        let stream = match timeout(self.limits.connect, connect).await {
            Ok(stream) => stream.map_err(|error| not_sent(error.to_string()))?,
            Err(_elapsed) => return Err(not_sent("no connection in time".into())),
        };
        stream.set_nodelay(true).map_err(|error: io::Error| not_sent(error.to_string()))?;
        Ok(Connection::new(stream))
    }
}

impl Targets {
    /// Sees to it that connections are closed also where no other request follows: an executor that has gone would otherwise leave
    /// its descriptors behind for as long as this process runs.
    fn sweep(self: &Arc<Self>) {
        if self.is_swept.load(Ordering::Relaxed) || self.is_swept.swap(true, Ordering::AcqRel) {
            return;
        }
        let targets = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(IDLE_LIMIT).await;
                if targets.close_idle() {
                    continue;
                }
                targets.is_swept.store(false, Ordering::Release);
                // One may have been kept since, by a request that still saw this task.
                if !targets.close_idle() || targets.is_swept.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        });
    }

    /// Closes what was idle for too long, and forgets addresses without connections and requests. False: no connection is left.
    fn close_idle(&self) -> bool {
        let mut targets = self.by_address.lock();
        let mut is_any_left = false;
        targets.retain(|_, target| {
            let is_idle = !target.close_idle();
            is_any_left |= !is_idle;
            !is_idle || Arc::strong_count(target) > 1
        });
        is_any_left
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
            run_start: start(&base, RUN, &authority),
            // `connect` wants an IPv6 address without its brackets.
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            authority,
            base,
            idle: Mutex::default(),
        })
    }

    /// A whole request, so that it is written at once.
    fn request(&self, path: &str, headers: &RequestHeaders, body: &[u8]) -> Vec<u8> {
        let start = match path {
            RUN => Cow::Borrowed(&self.run_start),
            path => Cow::Owned(start(&self.base, path, &self.authority)),
        };
        let length = format!("content-length: {}\r\n\r\n", body.len());
        [start.as_bytes(), headers.lines().as_bytes(), length.as_bytes(), body].concat()
    }

    /// The connection that was used last, so that the others come to their end.
    fn take_idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock();
        let newest = idle.pop()?;
        if newest.used_at.elapsed() < IDLE_LIMIT {
            return Some(newest);
        }
        idle.clear();
        None
    }

    fn keep(&self, mut connection: Connection) {
        connection.used_at = Instant::now();
        self.idle.lock().push(connection);
    }

    /// False: none is left.
    fn close_idle(&self) -> bool {
        let mut idle = self.idle.lock();
        let old = idle.partition_point(|it| it.used_at.elapsed() >= IDLE_LIMIT);
        idle.drain(..old);
        !idle.is_empty()
    }
}

/// How a request begins: its first line, and the headers that are the same in all. URLs escape what would end a line.
fn start(base: &str, path: &str, authority: &str) -> String {
    format!("POST {base}/{path} HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\n")
}

#[cfg(test)]
#[path = "held_connections_tests.rs"]
mod tests;
