//! A server or a node as a child process that dies with the suite, and the signals that the nemesis sends.

use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A command that ends with us, however we end. `user`: run as another one.
pub fn command(program: &str, user: Option<&str>) -> Command {
    let mut command = Command::new("setpriv");
    if let Some(user) = user {
        command.args(["--reuid", user, "--regid", user, "--init-groups"]);
    }
    command.args(["--pdeathsig", "KILL", "--", program]);
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.to_string_lossy().starts_with("CARILLON_")) {
        command.env_remove(name);
    }
    command
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        // Ctrl-C is ours: the servers must outlive the moment in which we recover and stop them.
        .process_group(0)
        .kill_on_drop(true);
    command
}

pub struct Process {
    pub pid: u32,
    child: Child,
}

impl Process {
    /// Starts it; what it says is added to `log`.
    pub fn start(name: &str, mut command: Command, log: &Path) -> anyhow::Result<Self> {
        let file = File::options().create(true).append(true).open(log)?;
        let child = command
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| format!("{name} cannot be started"))?;
        let pid = child.id().context("it has ended already")?;
        Ok(Self { pid, child })
    }

    /// `kill -NAME`, to this process alone.
    pub async fn signal(&self, name: &str) {
        signal(name, &[self.pid]).await;
    }

    /// `kill -NAME`, to it and to its children (a PostgreSQL has one for each connection).
    pub async fn signal_all(&self, name: &str) {
        signal(name, &[self.pid]).await;
        // Read after the parent was stopped: it makes no more of them.
        signal(name, &children(self.pid)).await;
    }

    /// `kill -9` for it and its children, at once: the parent must not tidy up after them.
    pub async fn kill_all(&mut self) {
        self.signal_all("STOP").await;
        // Asked before the parent ends: afterwards they have another parent.
        let mut all = children(self.pid);
        all.push(self.pid);
        signal("KILL", &all).await;
        self.kill().await;
    }

    /// None: it still runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for its end until the limit.
    pub async fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        timeout(limit, self.child.wait()).await.ok()?.ok()
    }

    /// `kill -9`, and it is gone.
    pub async fn kill(&mut self) -> Option<ExitStatus> {
        let _ = self.child.start_kill();
        // A stopped process takes SIGKILL too.
        self.wait(Duration::from_secs(10)).await
    }
}

async fn signal(name: &str, pids: &[u32]) {
    if pids.is_empty() {
        return;
    }
    let sent = Command::new("kill")
        .arg(format!("-{name}"))
        .args(pids.iter().map(u32::to_string))
        .stderr(Stdio::null())
        .status();
    // One that has just ended is no error: the caller looks at what became of it.
    let _ = sent.await;
}

/// Ids of the processes whose parent is this one.
fn children(parent: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return vec![];
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name in parentheses may hold spaces; what follows it is: state, parent.
        let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        after.split_whitespace().nth(1) == Some(&parent.to_string())
    })
    .collect()
}

/// `exit 0`, `signal 9` …
pub fn describe(status: Option<ExitStatus>) -> String {
    match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => format!("exit {code}"),
        Some((None, Some(signal))) => format!("signal {signal}"),
        _ => "no end".to_owned(),
    }
}

/// Resident memory in KiB and open descriptors.
pub fn usage(pid: u32) -> Option<(u64, u64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let rss = line.split_whitespace().nth(1)?.parse().ok()?;
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    Some((rss, descriptors as u64))
}
