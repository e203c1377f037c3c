//! What follows from ends of runs: how fast workflows go from node to node, what many of them at once cost others, and a map whose
//! executor dies; delayed triggers; loops; and fair shares of a limit. The real binary, on PostgreSQL or MariaDB with Redis, or on SQLite.
//!
//! ```text
//! cargo bench -p carillon-admin --bench flows -- chain [--nodes 3]     a chain of 50 nodes
//! cargo bench -p carillon-admin --bench flows -- many [--nodes 1]      100 runs of 500 nodes at once, beside another app
//! cargo bench -p carillon-admin --bench flows -- items [--nodes 1]     100,000 items over four executors, of which one is killed
//! cargo bench -p carillon-admin --bench flows -- delayed [--nodes 1]   1,000,000 delayed triggers, of which 1,000 a second become due
//! cargo bench -p carillon-admin --bench flows -- loops [--nodes 1]     200 best-effort jobs of 1 s and 20 of 50 ms on one executor
//! cargo bench -p carillon-admin --bench flows -- shares [--nodes 3]    two apps, 10 : 1, at one limit
//! ```
//!
//! `--help` explains each option.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking when the machine is not fit for it")]

mod chain;
mod cluster;
mod delayed;
#[path = "../throughput/executors.rs"]
#[expect(dead_code, reason = "shared with the benchmark of throughput")]
mod executors;
mod items;
mod loops;
mod many;
#[path = "../node/mod.rs"]
mod node;
mod shares;
mod worker;

use clap::{Parser, ValueEnum};

use node::DatabaseChoice;

#[derive(Clone, Copy, ValueEnum)]
enum Measurement {
    Chain,
    Many,
    Items,
    Delayed,
    Loops,
    Shares,
}

#[derive(Parser)]
struct Options {
    /// What is measured
    #[arg(value_enum)]
    measurement: Measurement,
    /// sqlite, postgres, mariadb, or the URL of an empty database
    #[arg(long, default_value = "postgres")]
    db: DatabaseChoice,
    /// Nodes of the cluster; more than one with Redis
    #[arg(long, default_value_t = 1)]
    nodes: usize,
    /// Start the nodes without Redis, also when there are several
    #[arg(long)]
    no_redis: bool,
    /// Runs of the chain, one after the other; runs of the workflows, at once; delayed triggers that wait
    #[arg(long)]
    runs: Option<usize>,
    /// Nodes of a workflow; seconds in which delayed triggers become due, or loops and shares are measured
    #[arg(long)]
    length: Option<usize>,
    /// Items of the map
    #[arg(long, default_value_t = 100_000)]
    items: usize,
    /// Milliseconds that an item takes
    #[arg(long, default_value_t = 0)]
    work_ms: u64,
    /// Given by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    rustls::crypto::ring::default_provider().install_default().unwrap_or(());
    // The executors of `items` and `loops` are this program again.
    if std::env::var_os(worker::ADMINS).is_some() {
        return worker::run().await;
    }
    let options = Options::parse();
    match options.measurement {
        Measurement::Chain => chain::measure(&options).await,
        Measurement::Many => many::measure(&options).await,
        Measurement::Items => items::measure(&options).await,
        Measurement::Delayed => delayed::measure(&options).await,
        Measurement::Loops => loops::measure(&options).await,
        Measurement::Shares => shares::measure(&options).await,
    }
}
