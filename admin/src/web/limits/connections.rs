//! Limits on open connections, in total and per source address, so that a client that only holds connections open cannot
//! lock out others.

use std::any::Any;
use std::collections::HashMap;
use std::net::{IpAddr, Shutdown};
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use socket2::SockRef;

pub struct Connections {
    most: usize,
    most_of_one: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    all: usize,
    by_source: HashMap<IpAddr, usize>,
}

/// The place of one connection; free again when it ends.
struct Taken {
    connections: Arc<Connections>,
    source: IpAddr,
}

impl Connections {
    /// What the limit of open files allows for each of `listeners`, 4096 at most; one source gets half of it.
    pub fn for_listeners(listeners: usize) -> Self {
        let files =
            std::fs::read_to_string("/proc/self/limits").ok().and_then(|text| open_files(&text)).unwrap_or(1024);
        // Each takes two: its socket, and the handle by which it is cut. The rest is for the database, executors and logs.
        let most = (files.saturating_sub(256) / 2 / listeners).clamp(64, 4096);
        Self::new(most, most / 2)
    }

    fn new(most: usize, most_of_one: usize) -> Self {
        Self { most, most_of_one, open: Mutex::default() }
    }

    /// For `HttpServer::on_connect`: closes a connection beyond the limits at once.
    pub fn admit(self: &Arc<Self>, connection: &dyn Any, extensions: &mut Extensions) {
        let Some(stream) = connection.downcast_ref::<TcpStream>() else {
            return;
        };
        let Ok(source) = stream.peer_addr().map(|address| address.ip()) else {
            return;
        };
        if self.take(source) {
            let connections = self.clone();
            extensions.insert(Taken { connections, source });
        } else {
            tracing::debug!(client.address = %source, "a connection too many is shut");
            // An error means that it has ended already.
            SockRef::from(stream).shutdown(Shutdown::Both).unwrap_or(());
        }
    }

    fn take(&self, source: IpAddr) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_source = open.by_source.get(&source).copied().unwrap_or(0);
        let fits = open.all < self.most && of_source < self.most_of_one;
        if fits {
            open.all += 1;
            open.by_source.insert(source, of_source + 1);
        }
        fits
    }

    fn give_back(&self, source: IpAddr) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all = open.all.saturating_sub(1);
        let left = open.by_source.get(&source).map_or(0, |count| count - 1);
        match left {
            0 => drop(open.by_source.remove(&source)),
            left => drop(open.by_source.insert(source, left)),
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.connections.give_back(self.source);
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
mod tests {
    use super::*;

    // covers: H26
    #[test]
    fn one_source_cannot_take_every_connection() {
        let connections = Connections::new(4, 2);
        let [a, b, c] = [1, 2, 3].map(|last| IpAddr::from([127, 0, 0, last]));
        assert!(connections.take(a) && connections.take(a) && !connections.take(a));
        assert!(connections.take(b) && connections.take(b));
        assert!(!connections.take(c), "four in total");
        connections.give_back(a);
        assert!(connections.take(c));
        connections.give_back(b);
        connections.give_back(b);
        assert!(!connections.open.lock().unwrap().by_source.contains_key(&b));
    }

    #[test]
    fn the_limit_of_open_files_is_found() {
        let text = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files     \n";
        assert_eq!(open_files(text), Some(1024));
        assert_eq!(open_files(""), None);
    }
}
