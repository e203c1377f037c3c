//! How many runs, how late, at what cost: the real binary with jobs that fire together, and executors that answer at once
//! and call back.
//!
//! ```text
//! make bench ARGS='--jobs 1000 --seconds 60 --db postgres'     one load, one table
//! make bench ARGS='--against ratchjob'                         this build and another scheduler in turn
//! make bench ARGS='--highest'                                  the highest rate with a p99 lateness below 1 s
//! make bench ARGS='--nodes 1,2,4 --db postgres'                the same for clusters of which each node has 0.25 of a core
//! make bench ARGS='--http --jobs 1000 --db postgres'           the same load of HTTP jobs
//! make bench ARGS='--memory --seconds 1800'                    memory, each 10 s
//! make bench ARGS='--scan-lag --jobs 100000 --every 60 --spread'
//! ```
//!
//! `--help` explains each option. The CPU seconds are those of the admin's process alone; the executors share the machine.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking when the machine is not fit for it")]

mod against;
mod beside_failures;
mod cpu_limit;
mod executors;
mod highest;
mod http;
mod memory;
#[path = "../node/mod.rs"]
mod node;
mod nodes;
mod options;
mod ratchjob;
mod report;
mod scan_lag;
mod steady;
mod trial;

use std::process::ExitCode;

use clap::Parser as _;

use options::Options;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let options = Options::parse();
    rustls::crypto::ring::default_provider().install_default().unwrap_or(());
    match &options {
        Options { against: Some(peer), .. } => against::compare(peer, &options).await,
        Options { nodes: Some(nodes), .. } => return nodes::compare(nodes, &options).await,
        Options { http: true, .. } => http::measure(&options).await,
        Options { highest: true, .. } => highest::print(&options).await,
        Options { memory: true, .. } => memory::print_curve(&options).await,
        Options { failing: 1.., .. } => beside_failures::measure(&options).await,
        _ => steady::measure(&options).await,
    }
    ExitCode::SUCCESS
}
