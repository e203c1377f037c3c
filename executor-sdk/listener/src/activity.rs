//! What a connection does at the moment, and whether it has done so for too long.

use std::net::Shutdown;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::net::TcpStream;

/// The longest time that a caller without a credential may keep a connection open without a request.
pub(crate) const IDLE_UNKNOWN: Duration = Duration::from_secs(10);
/// A client that does not read its answer: how long before its pace is checked, and bytes a second then.
const GRACE: Duration = Duration::from_secs(10);
const PACE: u64 = 1 << 10;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Milliseconds on the monotonic clock, never 0.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

/// The socket of a connection, and note of what happens on it.
pub(crate) struct Activity {
    pub(crate) tcp: TcpStream,
    /// The last thing that happened was that bytes were sent: no request is under way.
    has_answered: AtomicBool,
    last_at: AtomicU64,
    /// Since when the client's window is full; 0: it is not.
    blocked_at: AtomicU64,
    sent_since: AtomicU64,
    is_known: AtomicBool,
}

impl Activity {
    pub(crate) fn new(tcp: TcpStream) -> Self {
        Self {
            tcp,
            has_answered: AtomicBool::new(false),
            last_at: AtomicU64::new(now_ms()),
            blocked_at: AtomicU64::new(0),
            sent_since: AtomicU64::new(0),
            is_known: AtomicBool::new(false),
        }
    }

    pub(crate) fn on_read(&self) {
        self.has_answered.store(false, Ordering::Relaxed);
        self.last_at.store(now_ms(), Ordering::Relaxed);
    }

    pub(crate) fn on_write(&self, bytes: usize) {
        self.has_answered.store(true, Ordering::Relaxed);
        self.last_at.store(now_ms(), Ordering::Relaxed);
        self.sent_since.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn on_blocked(&self) {
        if self.blocked_at.load(Ordering::Relaxed) == 0 {
            self.sent_since.store(0, Ordering::Relaxed);
            self.blocked_at.store(now_ms(), Ordering::Relaxed);
        }
    }

    pub(crate) fn on_flush(&self) {
        self.blocked_at.store(0, Ordering::Relaxed);
    }

    /// Its caller has shown a credential. Returns whether that is new.
    pub(crate) fn set_known(&self) -> bool {
        !self.is_known.swap(true, Ordering::Relaxed)
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
