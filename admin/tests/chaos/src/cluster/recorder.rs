//! A recording executor as a process of its own: this program again, with another subcommand.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carillon_testkit::free_port;
use tokio::net::TcpStream;
use tokio::sync::Mutex as Turn;

use super::process::{Process, command};
use crate::executor::Kind;
use crate::load::{APP, HOLE};
use crate::proxy::Wire;

pub struct Recorder {
    pub name: String,
    pub kind: Kind,
    /// The way from the nodes to it; its address is what it registers.
    pub wire: Wire,
    listen: SocketAddr,
    arguments: Vec<String>,
    token: String,
    log: PathBuf,
    data: PathBuf,
    faults: PathBuf,
    pub process: Turn<Option<Process>>,
}

impl Recorder {
    pub async fn prepare(
        name: &str,
        kind: Kind,
        admins: &[String],
        folder: &Path,
        token: &str,
        observer: &Path,
    ) -> anyhow::Result<Self> {
        let listen: SocketAddr = ([127, 0, 0, 1], free_port()).into();
        let wire = Wire::open(listen).await?;
        // One of them also serves the app whose other executor is a black hole.
        let apps = if name == "e4" { format!("{APP},{HOLE}") } else { APP.to_owned() };
        let kind_word = if kind == Kind::Sdk { "sdk" } else { "stock" };
        let faults = folder.join(format!("{name}-faults"));
        std::fs::create_dir_all(&faults)?;
        let words = [
            ("--name", name.to_owned()),
            ("--kind", kind_word.to_owned()),
            ("--listen", listen.to_string()),
            ("--advertise", wire.url()),
            ("--apps", apps),
            ("--admins", admins.join(",")),
            ("--events", folder.join(format!("events-{name}.jsonl")).display().to_string()),
            ("--data", folder.join(name).display().to_string()),
            ("--faults", faults.display().to_string()),
            ("--observer", observer.display().to_string()),
        ];
        Ok(Self {
            name: name.to_owned(),
            kind,
            wire,
            listen,
            arguments: words.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect(),
            token: token.to_owned(),
            log: folder.join(format!("{name}.log")),
            data: folder.join(name),
            faults,
            process: Turn::new(None),
        })
    }

    pub async fn start(&self) -> anyhow::Result<()> {
        // Not its path: the file may have been rebuilt since this run started.
        let program = format!("/proc/{}/exe", std::process::id());
        let mut start = command(&program, None);
        start.arg("executor").args(&self.arguments).env("CHAOS_ACCESS_TOKEN", &self.token);
        let mut slot = self.process.lock().await;
        *slot = Some(Process::start(&self.name, start, &self.log)?);
        for _ in 0..200 {
            if TcpStream::connect(self.listen).await.is_ok() {
                self.wire.listen();
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        anyhow::bail!("{} does not start; see {}", self.name, self.log.display())
    }

    pub async fn kill(&self) {
        if let Some(mut process) = self.process.lock().await.take() {
            process.kill().await;
        }
        self.wire.refuse();
    }

    /// SIGTERM; killed after 15 s.
    pub async fn stop(&self) {
        if let Some(mut process) = self.process.lock().await.take() {
            process.signal("TERM").await;
            if process.wait(Duration::from_secs(15)).await.is_none() {
                process.kill().await;
            }
        }
        self.wire.refuse();
    }

    /// Deletes its data directory: the journal of its runs, results that no admin has, logs.
    pub fn wipe(&self) -> std::io::Result<()> {
        std::fs::remove_dir_all(&self.data)
    }

    /// Arms a fault of the next batch or item, whose file is gone once it was hit; or cuts renewals of loops, until `disarm`.
    pub fn arm(&self, fault: &str) -> std::io::Result<()> {
        std::fs::write(self.faults.join(fault), "")
    }

    /// Whether it was still armed.
    pub fn disarm(&self, fault: &str) -> bool {
        std::fs::remove_file(self.faults.join(fault)).is_ok()
    }

    pub fn is_armed(&self, fault: &str) -> bool {
        self.faults.join(fault).exists()
    }

    pub async fn signal(&self, name: &str) {
        if let Some(process) = &*self.process.lock().await {
            process.signal(name).await;
        }
    }
}
