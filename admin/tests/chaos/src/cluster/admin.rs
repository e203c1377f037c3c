//! A node: started, killed, stopped, paused, and made to end at a chosen line.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::bail;
use carillon_testkit::free_port;
use tokio::sync::Mutex as Turn;

use super::Secrets;
use super::process::{Process, command, describe};
use super::server::Server;
use crate::clock::now;
use crate::options::{Db, Options};
use crate::proxy::Wire;
use crate::record::Exit;

const READY_WITHIN: Duration = Duration::from_secs(60);
/// What a supervisor waits before it tries a start again.
const RETRY: Duration = Duration::from_millis(500);

/// A node's wires to the servers.
#[derive(Clone)]
pub struct Ways {
    pub name: String,
    pub database: Option<Wire>,
    pub redis: Option<Wire>,
    database_url: Option<String>,
    redis_url: Option<String>,
}

impl Ways {
    pub fn none(name: &str) -> Self {
        Self { name: name.to_owned(), database: None, redis: None, database_url: None, redis_url: None }
    }

    pub async fn open(name: &str, server: &Server, url: &str, redis: &Server, password: &str) -> anyhow::Result<Self> {
        let database = Wire::open(server.address()).await?;
        let keys = Wire::open(redis.address()).await?;
        Ok(Self {
            name: name.to_owned(),
            database_url: Some(format!("{url}{}/carillon", database.address)),
            redis_url: Some(format!("redis://:{password}@{}/", keys.address)),
            database: Some(database),
            redis: Some(keys),
        })
    }

    pub fn recover(&self) {
        for wire in [&self.database, &self.redis].into_iter().flatten() {
            wire.recover();
        }
    }
}

pub struct Admin {
    pub name: String,
    pub address: SocketAddr,
    /// The way to it.
    pub wire: Wire,
    pub ways: Ways,
    /// Files in here arm failpoints and set flags.
    pub failpoints: PathBuf,
    /// What libfaketime reads: this node's wall clock against the true one.
    pub clock_file: PathBuf,
    log: PathBuf,
    environment: Vec<(String, String)>,
    binary: PathBuf,
    pub process: Turn<Option<Process>>,
    /// The nemesis has ended it, and starts it again.
    pub is_down_on_purpose: AtomicBool,
    /// The node was not ready in time, and its supervisor must try again.
    pub is_given_up: AtomicBool,
    /// Its ends before it was ready.
    pub failed_starts: Mutex<Vec<Exit>>,
}

impl Admin {
    pub async fn prepare(ways: Ways, options: &Options, folder: &Path, secrets: &Secrets) -> anyhow::Result<Self> {
        let name = ways.name.clone();
        let own = folder.join(&name);
        let failpoints = own.join("failpoints");
        std::fs::create_dir_all(&failpoints)?;
        let address: SocketAddr = ([127, 0, 0, 1], free_port()).into();
        let mut environment = vec![
            ("CARILLON_DATA_DIR", own.display().to_string()),
            ("CARILLON_LISTEN", address.to_string()),
            ("CARILLON_ACCESS_TOKEN", secrets.access.clone()),
            ("CARILLON_API_TOKEN", secrets.api.clone()),
            ("CARILLON_LOG_FORMAT", "json".into()),
            ("CARILLON_LEASE_TTL", format!("{}ms", options.ttl_ms)),
            ("CARILLON_LOOK_AHEAD", format!("{}ms", options.look_ahead_ms)),
            ("CARILLON_HTTP_NETWORKS", "127.0.0.1".into()),
            ("CARILLON_TEST_FAILPOINTS", failpoints.display().to_string()),
        ];
        environment.extend(ways.database_url.clone().map(|url| ("CARILLON_DATABASE_URL", url)));
        environment.extend(ways.redis_url.clone().map(|url| ("CARILLON_REDIS_URL", url)));
        let clock_file = own.join("clock");
        std::fs::write(&clock_file, "+0\n")?;
        if options.db != Db::Sqlite {
            environment.extend(faketime(&clock_file));
        }
        Ok(Self {
            wire: Wire::open(address).await?,
            log: folder.join(format!("{name}.log")),
            environment: environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            binary: options.binary.clone(),
            process: Turn::new(None),
            is_down_on_purpose: AtomicBool::new(false),
            is_given_up: AtomicBool::new(false),
            failed_starts: Mutex::default(),
            name,
            address,
            ways,
            failpoints,
            clock_file,
        })
    }

    pub fn command(&self) -> tokio::process::Command {
        self.command_of(&["serve"])
    }

    /// The program with this node's settings.
    pub fn command_of(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command = command(&self.binary.display().to_string(), None);
        command.args(arguments).envs(self.environment.iter().cloned());
        command
    }

    /// Starts it and waits until it serves. Like a supervisor it starts a process again that ends before that, because the
    /// database is away; the checker judges these ends.
    pub async fn start(&self) -> anyhow::Result<()> {
        let mut slot = self.process.lock().await;
        // A fault and the supervisor may both want it back.
        if slot.is_some() {
            return Ok(());
        }
        let until = Instant::now() + READY_WITHIN;
        let mut process = Process::start(&self.name, self.command(), &self.log)?;
        let (mut since, mut ends) = (Instant::now(), 0);
        while Instant::now() < until {
            if let Some(status) = process.ended() {
                ends += 1;
                self.ended_at_start(describe(Some(status)));
                tokio::time::sleep(RETRY).await;
                process = Process::start(&self.name, self.command(), &self.log)?;
                since = Instant::now();
            }
            if self.is_alive().await {
                *slot = Some(process);
                self.wire.listen();
                self.is_down_on_purpose.store(false, Ordering::SeqCst);
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        process.kill().await;
        self.is_given_up.store(true, Ordering::SeqCst);
        bail!(
            "{} does not start: it ended {ends} times, and its last process did not serve for {} s; see {}",
            self.name,
            since.elapsed().as_secs(),
            self.log.display()
        )
    }

    fn ended_at_start(&self, how: String) {
        let exit = self.exit(now(), how, "start");
        let all = self.failed_starts.lock();
        all.unwrap_or_else(PoisonError::into_inner).push(exit);
    }

    /// Asked directly: a fault on its wire is not its own.
    pub async fn is_alive(&self) -> bool {
        static HTTP: std::sync::OnceLock<reqwest::Client> = std::sync::OnceLock::new();
        let http = HTTP.get_or_init(|| reqwest::Client::builder().no_proxy().build().unwrap_or_default());
        let asked = http.get(format!("http://{}/healthz", self.address)).send();
        let limit = Duration::from_secs(2);
        matches!(tokio::time::timeout(limit, asked).await, Ok(Ok(answer)) if answer.status().is_success())
    }

    /// `kill -9`. It stays down until `start`.
    pub async fn kill(&self, why: &str) -> Option<Exit> {
        self.is_down_on_purpose.store(true, Ordering::SeqCst);
        let at = now();
        let mut process = self.process.lock().await.take()?;
        let status = process.kill().await;
        self.wire.refuse();
        Some(self.exit(at, describe(status), why))
    }

    /// SIGTERM, and its end; killed after 20 s.
    pub async fn terminate(&self, why: &str) -> Option<Exit> {
        self.is_down_on_purpose.store(true, Ordering::SeqCst);
        let at = now();
        let mut process = self.process.lock().await.take()?;
        process.signal("TERM").await;
        // A process that another fault has paused would never get the signal: that fault does not find the process here any more.
        process.signal("CONT").await;
        let mut status = process.wait(Duration::from_secs(20)).await;
        if status.is_none() {
            process.kill().await;
            status = None;
        }
        self.wire.refuse();
        Some(self.exit(at, describe(status), why))
    }

    pub async fn signal(&self, name: &str) {
        if let Some(process) = &*self.process.lock().await {
            process.signal(name).await;
        }
    }

    pub fn exit(&self, at: i64, how: String, why: &str) -> Exit {
        Exit { process: self.name.clone(), at, how, why: why.to_owned(), took_ms: now() - at }
    }

    /// Arms a failpoint or sets a flag. A failpoint's file is gone once it was hit.
    pub fn arm(&self, failpoint: &str) {
        let _ = std::fs::write(self.failpoints.join(failpoint), "");
    }

    pub fn disarm(&self, failpoint: &str) {
        let _ = std::fs::remove_file(self.failpoints.join(failpoint));
    }

    pub fn is_armed(&self, failpoint: &str) -> bool {
        self.failpoints.join(failpoint).exists()
    }

    /// Moves its wall clock, by seconds against the true one.
    pub fn set_clock(&self, seconds: i64) {
        let _ = std::fs::write(&self.clock_file, format!("{seconds:+}\n"));
    }
}

/// The environment under which a node's wall clock, but not its monotonic one, follows a file.
fn faketime(file: &Path) -> Vec<(&'static str, String)> {
    let library = ["x86_64", "aarch64"]
        .map(|machine| format!("/usr/lib/{machine}-linux-gnu/faketime/libfaketime.so.1"))
        .into_iter()
        .find(|path| Path::new(path).exists());
    library.map_or_else(Vec::new, |library| {
        vec![
            ("LD_PRELOAD", library),
            ("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
            ("FAKETIME_NO_CACHE", "1".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
            ("DONT_FAKE_MONOTONIC", "1".into()),
        ]
    })
}

#[cfg(test)]
mod tests;
