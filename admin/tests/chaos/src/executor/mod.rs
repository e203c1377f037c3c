//! The recording executors, each a process of its own: what stands in front of them writes every request down before it
//! is passed on, and every acknowledgement before it is passed back.

pub mod batch_fault;
pub mod items;
pub mod loops;
mod sdk;
mod stock;
mod tap;
pub mod work;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use crate::record::event::EventLog;

/// Which kind of executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Links our SDK.
    Sdk,
    /// Speaks the stock protocol and forgets a run's id when the run starts.
    Stock,
}

/// How one is started, by the suite.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    #[arg(long)]
    pub name: String,
    #[arg(long, value_enum)]
    pub kind: Kind,
    #[arg(long)]
    pub listen: SocketAddr,
    /// What admins are told to call.
    #[arg(long)]
    pub advertise: String,
    /// Apps that it serves.
    #[arg(long, value_delimiter = ',')]
    pub apps: Vec<String>,
    #[arg(long, value_delimiter = ',')]
    pub admins: Vec<String>,
    #[arg(long)]
    pub events: PathBuf,
    #[arg(long)]
    pub data: PathBuf,
    /// A file in here arms a fault of the next batch or the next item, or cuts renewals of loops.
    #[arg(long)]
    pub faults: PathBuf,
    /// The socket of the observer of loops.
    #[arg(long)]
    pub observer: PathBuf,
    /// The admins' access token.
    #[arg(long, env = "CHAOS_ACCESS_TOKEN", hide_env_values = true)]
    pub token: String,
}

/// Works until SIGTERM.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let events = Arc::new(EventLog::open(&arguments.events, &arguments.name)?);
    // The way to the admins, as the executor behind sees it: `<outbound>/0`, `<outbound>/1` …
    let outbound = tap::outbound(events.clone(), &arguments)?;
    let admins: Vec<String> = (0..arguments.admins.len()).map(|index| format!("http://{outbound}/{index}")).collect();
    match arguments.kind {
        Kind::Sdk => sdk::run(&arguments, admins, events).await,
        Kind::Stock => stock::run(&arguments, admins, events).await,
    }
}

/// Resolves at SIGTERM.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            terminate.recv().await;
        }
        Err(error) => eprintln!("SIGTERM cannot be waited for: {error}"),
    }
}
