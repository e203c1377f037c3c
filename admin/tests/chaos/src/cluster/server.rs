//! A server beside the nodes that can be killed and started again on its data and its port.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use anyhow::bail;
use tokio::process::Command;

use super::process::{Process, command};

const READY_WITHIN: Duration = Duration::from_secs(60);

/// How it is started, each time in the same way.
pub struct Recipe {
    pub name: &'static str,
    pub program: String,
    pub user: Option<&'static str>,
    pub arguments: Vec<String>,
    pub log: PathBuf,
    /// Succeeds once the server answers.
    pub probe: Vec<String>,
    /// The probe's environment: a password.
    pub secret: (&'static str, String),
    pub address: SocketAddr,
}

pub struct Server {
    pub recipe: Recipe,
    pub process: Process,
}

impl Server {
    pub async fn start(recipe: Recipe) -> anyhow::Result<Self> {
        let process = launch(&recipe).await?;
        Ok(Self { recipe, process })
    }

    pub fn address(&self) -> SocketAddr {
        self.recipe.address
    }

    /// Starts it again after its end.
    pub async fn restart(&mut self) -> anyhow::Result<()> {
        self.process = launch(&self.recipe).await?;
        Ok(())
    }

    /// Waits until it answers.
    pub async fn is_ready(&self) -> anyhow::Result<()> {
        let until = Instant::now() + READY_WITHIN;
        while Instant::now() < until {
            if answers(&self.recipe).await {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("{} does not answer", self.recipe.name)
    }

    /// `kill -9`, with all of its children.
    pub async fn kill(&mut self) {
        self.process.kill_all().await;
    }

    /// An orderly end.
    pub async fn stop(&mut self, signal: &str) -> Option<ExitStatus> {
        self.process.signal_all("CONT").await;
        self.process.signal(signal).await;
        match self.process.wait(Duration::from_secs(20)).await {
            None => self.process.kill().await,
            ended => ended,
        }
    }
}

/// A killed PostgreSQL leaves shared memory that refuses the next one for a moment; hence more than one try.
async fn launch(recipe: &Recipe) -> anyhow::Result<Process> {
    let until = Instant::now() + READY_WITHIN;
    while Instant::now() < until {
        let mut start = command(&recipe.program, recipe.user);
        start.args(&recipe.arguments);
        if recipe.user.is_some() {
            start.current_dir("/");
        }
        let mut process = Process::start(recipe.name, start, &recipe.log)?;
        loop {
            if process.ended().is_some() {
                break;
            }
            if answers(recipe).await {
                return Ok(process);
            }
            if Instant::now() >= until {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let said = std::fs::read_to_string(&recipe.log).unwrap_or_default();
    let last: Vec<&str> = said.lines().rev().take(20).collect();
    bail!("{} was not ready within a minute:\n{}", recipe.name, last.into_iter().rev().collect::<Vec<_>>().join("\n"))
}

async fn answers(recipe: &Recipe) -> bool {
    let Some((program, arguments)) = recipe.probe.split_first() else {
        return false;
    };
    let (name, secret) = &recipe.secret;
    let probe = Command::new(program)
        .args(arguments)
        .env(name, secret)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    probe.await.is_ok_and(|status| status.success())
}
