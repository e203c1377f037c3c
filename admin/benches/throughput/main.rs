//! How many runs, how late, at what cost: the real binary with jobs that fire together, and executors that answer at once
//! and call back.
//!
//! ```text
//! cargo bench -p carillon-admin --bench throughput -- [--jobs 1000] [--every 1] [--seconds 60] [--executors 1]
//!     [--flood 0] [--failing 0] [--shards 8] [--look-ahead 5] [--database-url URL]
//! ```
//!
//! `--help` explains each option. With `--failing` the report has three lines for the first app: alone, beside another app of which
//! every run succeeds, and beside the same of which every run fails. The CPU seconds are those of the admin's process alone; the
//! executor shares the machine.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking when the machine is not fit for it")]

mod executor;
#[path = "../node/mod.rs"]
mod node;
mod report;

use std::time::Duration;

use clap::Parser;
use serde_json::{Value, json};

use executor::{Admin, Executor};
use node::{Node, Setup};

#[derive(Parser)]
struct Options {
    /// Jobs of the app that is measured
    #[arg(long, default_value_t = 1000)]
    jobs: usize,
    /// Seconds between two fires of a job: a divisor of 60
    #[arg(long, default_value_t = 1)]
    every: u64,
    /// How long to measure
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    #[arg(long, default_value_t = 1)]
    executors: usize,
    /// Runs per second of a second app whose executor never answers
    #[arg(long, default_value_t = 0)]
    flood: usize,
    /// Runs per second of a second app, of which first all succeed and then all fail; each takes the seconds once more
    #[arg(long, default_value_t = 0)]
    failing: usize,
    #[arg(long, default_value_t = 8)]
    shards: u64,
    /// In seconds
    #[arg(long, default_value_t = 5)]
    look_ahead: u64,
    /// Without it: SQLite in a temporary folder
    #[arg(long)]
    database_url: Option<String>,
    /// `cargo bench` adds it
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let options = Options::parse();
    rustls::crypto::ring::default_provider().install_default().unwrap_or(());
    let folder = tempfile::tempdir().unwrap();
    let arguments = vec![format!("--shards={}", options.shards), format!("--look-ahead={}s", options.look_ahead)];
    let setup = Setup::new(folder.path(), options.database_url.as_deref(), arguments);
    let node = Node::start(&setup).await;
    let admin = Admin { url: node.url.clone(), token: setup.access_token };
    for app in ["bench", "flood", "failing"] {
        node.call("apps", &json!({"name": app})).await;
    }
    let executor = Executor::start(&admin, "bench", options.executors).await;
    node.create_jobs("bench", options.jobs, &every(options.every)).await;
    if options.flood > 0 {
        executor::hang(&admin).await;
        node.create_jobs("flood", options.flood, &every(1)).await;
    }
    if options.failing > 0 {
        beside_failures(&node, &admin, &executor, &options).await;
        return node.stop().await;
    }
    // The first seconds belong to the start: connections, caches, five seconds claimed at once.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let (before, from) = (node.usage(), executor.now());
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    let (after, to) = (node.usage(), executor.now());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let received = executor.received();
    report::print(&received, options.every, (from, to), (&before, &after));
    node.print_scans().await;
    node.stop().await;
}

/// A fire at each multiple of `seconds`.
fn every(seconds: u64) -> Value {
    match seconds {
        1 => json!({"kind": "fixed_rate", "seconds": 1}),
        _ => {
            json!({"kind": "cron", "expression": format!("0/{seconds} * * * * ?"), "timezone": "UTC"})
        }
    }
}

/// The same app in three times of one run: alone, beside another app of which every run succeeds, and beside the same while
/// every run fails. The first step shows what the second app's requests cost on this machine, the second what its failures do.
async fn beside_failures(node: &Node, admin: &Admin, executor: &Executor, options: &Options) {
    let mut times = vec![measured(executor, options).await];
    let other = Executor::start(admin, "failing", 1).await;
    node.create_jobs("failing", options.failing, &every(1)).await;
    times.push(measured(executor, options).await);
    other.fail();
    times.push(measured(executor, options).await);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let names = ["alone", "beside successes", "beside failures"];
    for (name, time) in names.into_iter().zip(&times) {
        report::Felt::of(&executor.received(), &executor.called(), *time).print(name);
    }
    for (name, time) in ["the other, succeeding", "the other, failing"].into_iter().zip(&times[1..]) {
        report::Felt::of(&other.received(), &other.called(), *time).print(name);
    }
}

/// From when to when, without the first seconds.
async fn measured(executor: &Executor, options: &Options) -> (i64, i64) {
    tokio::time::sleep(Duration::from_secs(8)).await;
    let from = executor.now();
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    (from, executor.now())
}
