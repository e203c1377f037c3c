//! One connection: what it does at the moment, and how it is cut.

use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::net::TcpStream;

use crate::places::{Places, SourceNetwork};

/// A caller that has shown no credential may keep a connection open without a request for so long.
pub(crate) const IDLE_UNKNOWN: Duration = Duration::from_secs(10);
/// A client that does not read its answer: how long before its pace is checked, and bytes a second then.
const GRACE: Duration = Duration::from_secs(10);
const PACE: u64 = 1 << 10;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Milliseconds on the monotonic clock, never 0.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

/// A further handle to the connection of a request: `HttpRequest::conn_data`.
#[derive(Clone)]
pub struct Connection(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) tcp: TcpStream,
    pub(crate) id: u64,
    pub(crate) source: SourceNetwork,
    places: Weak<Places>,
    /// The last thing that happened was that bytes were sent: no request is under way.
    has_answered: AtomicBool,
    last_at: AtomicU64,
    /// Since when the client's window is full; 0: it is not.
    blocked_at: AtomicU64,
    sent_since: AtomicU64,
    is_known: AtomicBool,
}

impl Inner {
    pub(crate) fn new(tcp: TcpStream, id: u64, source: SourceNetwork, places: Weak<Places>) -> Self {
        Self {
            tcp,
            id,
            source,
            places,
            has_answered: AtomicBool::new(false),
            last_at: AtomicU64::new(now_ms()),
            blocked_at: AtomicU64::new(0),
            sent_since: AtomicU64::new(0),
            is_known: AtomicBool::new(false),
        }
    }

    pub(crate) fn has_read(&self) {
        self.has_answered.store(false, Ordering::Relaxed);
        self.last_at.store(now_ms(), Ordering::Relaxed);
    }

    pub(crate) fn has_written(&self, bytes: usize) {
        self.has_answered.store(true, Ordering::Relaxed);
        self.last_at.store(now_ms(), Ordering::Relaxed);
        self.sent_since.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn is_blocked(&self) {
        if self.blocked_at.load(Ordering::Relaxed) == 0 {
            self.sent_since.store(0, Ordering::Relaxed);
            self.blocked_at.store(now_ms(), Ordering::Relaxed);
        }
    }

    pub(crate) fn has_flushed(&self) {
        self.blocked_at.store(0, Ordering::Relaxed);
    }

    pub(crate) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// For how long it has waited for a request. None: one is being answered, or its answer read.
    pub(crate) fn idle(&self, now: u64) -> Option<Duration> {
        let is_idle = self.has_answered.load(Ordering::Relaxed) && self.blocked_at.load(Ordering::Relaxed) == 0;
        is_idle.then(|| Duration::from_millis(now.saturating_sub(self.last_at.load(Ordering::Relaxed))))
    }

    /// Whether it is to be cut: idle for too long, or too slow to read its answer.
    pub(crate) fn has_overstayed(&self, now: u64) -> bool {
        let blocked_at = self.blocked_at.load(Ordering::Relaxed);
        if blocked_at != 0 {
            let allowed = GRACE + Duration::from_millis(self.sent_since.load(Ordering::Relaxed) * 1000 / PACE);
            return Duration::from_millis(now.saturating_sub(blocked_at)) > allowed;
        }
        !self.is_known() && self.idle(now).is_some_and(|idle| idle > IDLE_UNKNOWN)
    }

    pub(crate) fn cut(&self) {
        // An error means that it has ended already.
        SockRef::from(&self.tcp).shutdown(Shutdown::Both).unwrap_or(());
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(places) = self.places.upgrade() {
            places.give_back(self.id);
        }
    }
}

impl Connection {
    /// The client sees it end instead of an answer.
    pub fn cut(&self) {
        self.0.cut();
    }

    /// Its caller has shown a credential: it may idle longer, and its source gets a larger share of the connections.
    pub fn set_known(&self) {
        if !self.0.is_known.swap(true, Ordering::Relaxed)
            && let Some(places) = self.0.places.upgrade()
        {
            places.know(self.0.source);
        }
    }
}
