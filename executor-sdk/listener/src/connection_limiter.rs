//! Who may have a connection: limits in total and for each source, so that clients that only hold connections open cannot lock
//! out others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::TcpStream;

use crate::activity::{Activity, now_ms};

/// How long a source is known after one of its connections has shown a credential.
const KNOWN_MS: u64 = 15 * 60_000;
/// Known sources that are remembered.
const MOST_KNOWN: usize = 10_000;

/// An IPv4 address, or the IPv6 network of 64 bits that one host has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceNetwork(IpAddr);

impl From<IpAddr> for SourceNetwork {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => Self(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into()),
            address => Self(address),
        }
    }
}

/// How many connections there may be.
#[derive(Clone)]
pub struct Limits {
    pub most: usize,
    /// Of a source that has shown no credential.
    pub most_of_unknown: usize,
    /// Of a source that has shown one lately.
    pub most_of_known: usize,
    /// Which addresses stand for many clients and have no limit of their own: trusted proxies.
    pub is_shared: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
}

impl Limits {
    /// An eighth for each source, half for one that has shown a credential.
    pub fn of(most: usize) -> Self {
        Self {
            most,
            most_of_unknown: (most / 8).max(1),
            most_of_known: (most / 2).max(1),
            is_shared: Arc::new(|_| false),
        }
    }

    /// What this process' limit of open files allows for each of `listeners`, 64 to 4096. The rest is for the database,
    /// executors and logs.
    pub fn for_listeners(listeners: usize) -> Self {
        let limits = std::fs::read_to_string("/proc/self/limits").ok();
        let files = limits.and_then(|text| open_files(&text)).unwrap_or(1024);
        Self::of((files.saturating_sub(256) / 2 / listeners).clamp(64, 4096))
    }

    /// Of the last eighth, unknown sources get none: executors and people who are signed in stay able to connect.
    fn most_of_all_unknown(&self) -> usize {
        self.most - self.most / 8
    }
}

/// The open connections of a listener.
pub struct ConnectionLimiter {
    limits: Limits,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next_id: u64,
    all: HashMap<u64, (SourceNetwork, Weak<Activity>)>,
    by_source: HashMap<SourceNetwork, usize>,
    known: HashMap<SourceNetwork, u64>,
}

impl Open {
    fn of_source(&self, source: SourceNetwork) -> usize {
        self.by_source.get(&source).copied().unwrap_or(0)
    }

    fn remove(&mut self, id: u64) {
        let Some((source, _)) = self.all.remove(&id) else {
            return;
        };
        match self.of_source(source).saturating_sub(1) {
            0 => drop(self.by_source.remove(&source)),
            left => drop(self.by_source.insert(source, left)),
        }
    }
}

/// The place of one connection; free again when it is dropped.
pub(crate) struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    id: u64,
    source: SourceNetwork,
}

impl ConnectionPermit {
    pub(crate) fn set_known(&self) {
        self.limiter.know(self.source);
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.limiter.open.lock().remove(self.id);
    }
}

/// What stands in the way of one more connection.
enum Full {
    Source,
    All { for_known: bool },
}

impl ConnectionLimiter {
    /// With the task that cuts connections which idle too long or read too slowly. Needs a tokio runtime.
    pub fn start(limits: Limits) -> Arc<Self> {
        let limiter = Arc::new(Self { limits, open: Mutex::default() });
        tokio::spawn(watch(Arc::downgrade(&limiter)));
        limiter
    }

    /// Counts a connection. When there are too many, one that waits for a request makes room; without one, this is refused.
    pub(crate) fn take(self: &Arc<Self>, tcp: TcpStream, peer: IpAddr) -> Option<(Arc<Activity>, ConnectionPermit)> {
        let source = SourceNetwork::from(peer);
        if let Some(full) = self.full(source, peer)
            && !self.make_room(source, &full)
        {
            tracing::debug!(client.address = %peer, "a connection too many is closed");
            return None;
        }
        let mut open = self.open.lock();
        open.next_id += 1;
        let id = open.next_id;
        let activity = Arc::new(Activity::new(tcp));
        open.all.insert(id, (source, Arc::downgrade(&activity)));
        *open.by_source.entry(source).or_default() += 1;
        drop(open);
        Some((activity, ConnectionPermit { limiter: self.clone(), id, source }))
    }

    fn full(&self, source: SourceNetwork, peer: IpAddr) -> Option<Full> {
        let open = self.open.lock();
        let known = is_known(&open, source);
        let of_source = if known { self.limits.most_of_known } else { self.limits.most_of_unknown };
        let of_all = if known { self.limits.most } else { self.limits.most_of_all_unknown() };
        if open.of_source(source) >= of_source && !(self.limits.is_shared)(peer) {
            return Some(Full::Source);
        }
        (open.all.len() >= of_all).then_some(Full::All { for_known: known })
    }

    /// Closes the connection that has waited longest for a request: of the same source, or where all are taken, of
    /// any source; those that have shown a credential make room for their like only.
    fn make_room(&self, source: SourceNetwork, full: &Full) -> bool {
        let now = now_ms();
        let may_go = |of: SourceNetwork, it: &Activity| match full {
            Full::Source => of == source,
            Full::All { for_known } => *for_known || !it.is_known(),
        };
        let mut open = self.open.lock();
        let all = open.all.iter().filter_map(|(id, (source, it))| Some((*id, *source, it.upgrade()?)));
        let idle = all.filter(|(_, of, it)| may_go(*of, it)).filter_map(|(id, _, it)| Some((it.idle(now)?, id, it)));
        let Some((_, id, longest)) = idle.max_by_key(|(idle, _, _)| *idle) else {
            return false;
        };
        // Its place is free at once; its socket is when its task notices.
        open.remove(id);
        longest.cut();
        true
    }

    fn know(&self, source: SourceNetwork) {
        let mut open = self.open.lock();
        let now = now_ms();
        if open.known.len() >= MOST_KNOWN {
            open.known.retain(|_, until| *until > now);
        }
        if open.known.len() < MOST_KNOWN {
            open.known.insert(source, now + KNOWN_MS);
        }
    }
}

fn is_known(open: &Open, source: SourceNetwork) -> bool {
    open.known.get(&source).is_some_and(|until| *until > now_ms())
}

async fn watch(limiter: Weak<ConnectionLimiter>) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let Some(limiter) = limiter.upgrade() else {
            return;
        };
        let now = now_ms();
        let all = limiter.open.lock().all.values().filter_map(|(_, it)| it.upgrade()).collect::<Vec<_>>();
        all.iter().filter(|it| it.has_overstayed(now)).for_each(|it| it.cut());
    }
}

/// The soft limit, from the text of `/proc/self/limits`.
fn open_files(text: &str) -> Option<usize> {
    let line = text.lines().find(|line| line.starts_with("Max open files"))?;
    match line.split_whitespace().nth(3)? {
        "unlimited" => Some(usize::MAX),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
#[path = "connection_limiter_tests.rs"]
mod tests;
