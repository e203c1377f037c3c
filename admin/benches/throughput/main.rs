//! How many runs, how late, at what cost: the real binary with jobs that fire each second, and one executor that answers
//! at once and calls back.
//!
//! ```text
//! cargo bench -p carillon-admin --bench throughput -- [--jobs 1000] [--seconds 60] [--database-url URL]
//! ```
//!
//! Without a URL on SQLite. CPU seconds are those of the admin's process alone; the executor shares the machine.

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark ends by panicking when the machine is not fit for it"
)]

mod executor;
mod node;
mod report;

use std::time::Duration;

use executor::Executor;
use node::Node;

struct Options {
    jobs: usize,
    seconds: u64,
    database_url: Option<String>,
}

fn options() -> Options {
    let mut options = Options {
        jobs: 1000,
        seconds: 60,
        database_url: None,
    };
    let mut given = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = given.next() {
        let mut value = || {
            given
                .next()
                .unwrap_or_else(|| panic!("{word} wants a value"))
        };
        match word.as_str() {
            "--jobs" => options.jobs = value().parse().expect("--jobs: a number"),
            "--seconds" => options.seconds = value().parse().expect("--seconds: a number"),
            "--database-url" => options.database_url = Some(value()),
            other => panic!("{other}: use --jobs N, --seconds N, --database-url URL"),
        }
    }
    options
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let options = options();
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap_or(());
    let node = Node::start(options.database_url.as_deref()).await;
    let executor = Executor::start(&node).await;
    node.create_jobs(options.jobs).await;
    // The first seconds belong to the start: connections, caches, five seconds claimed at once.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let (before, from) = (node.usage(), executor.now());
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    let (after, to) = (node.usage(), executor.now());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let received = executor.received();
    report::print(&received, from, to, &before, &after);
    node.stop().await;
}
