//! Sees the calls of all loops from outside: each is a datagram to one socket, which keeps the order in which executors have sent them. The
//! observer writes each down with its own clocks.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::now;
use crate::record::{Fire, files};

/// How often it looks whether the run is over.
const LOOK: Duration = Duration::from_secs(1);
/// An executor that has not called a loop for this long may have it no more: longer than the longest period.
const FIRES: Duration = Duration::from_millis(1_200);

/// The executor that has called the loop of each job last, and when.
type Last = Arc<Mutex<BTreeMap<i64, (String, Instant)>>>;

/// Observes until it is dropped.
pub struct Observer {
    /// The socket's.
    pub path: PathBuf,
    last: Last,
}

impl Observer {
    pub fn start(path: PathBuf, folder: &Path) -> anyhow::Result<Self> {
        let socket = UnixDatagram::bind(&path)?;
        socket.set_read_timeout(Some(LOOK))?;
        let file = File::create(folder.join(files::FIRES))?;
        let last = Last::default();
        let kept = last.clone();
        // A thread of its own: what the proxies do must not delay it.
        std::thread::spawn(move || observe(&socket, file, &kept));
        Ok(Self { path, last })
    }

    /// The jobs whose loops were called.
    pub fn jobs(&self) -> Vec<i64> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// The executors that call loops now, each once.
    pub fn executors(&self) -> Vec<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<String> =
            last.values().filter(|(_, at)| at.elapsed() < FIRES).map(|(name, _)| name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

fn observe(socket: &UnixDatagram, mut file: File, last: &Last) {
    let started = Instant::now();
    let mut buffer = [0; 1024];
    // Ours is the last one when the observer was dropped.
    while Arc::strong_count(last) > 1 {
        let Ok(length) = socket.recv(&mut buffer) else { continue };
        let seen = Instant::now();
        let Ok(told) = serde_json::from_slice::<Fire>(&buffer[..length]) else { continue };
        let mono_us = i64::try_from(seen.duration_since(started).as_micros()).unwrap_or(i64::MAX);
        let fire = Fire { mono_us, at: now(), ..told };
        let mut line = serde_json::to_vec(&fire).unwrap_or_default();
        line.push(b'\n');
        if let Err(error) = file.write_all(&line) {
            eprintln!("a call of a loop cannot be written: {error}");
            return;
        }
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        last.insert(fire.job, (fire.executor, seen));
    }
}
