//! How many runs, how late, at what cost: the real binary with jobs that fire together, and executors that answer at once
//! and call back.
//!
//! ```text
//! cargo bench -p carillon-admin --bench throughput -- [--jobs 1000] [--every 1] [--seconds 60] [--executors 1]
//!     [--flood 0] [--failing 0] [--shards 8] [--look-ahead 5] [--database-url URL]
//! ```
//!
//! `--every`: seconds between the fires of a job, a part of a minute. `--flood`: so many jobs of another app fire each second
//! besides, for an executor that never answers. `--failing`: so many runs of another app fail each second besides, from half of
//! the time on; what the first app feels of them is printed as two lines. Without a URL on SQLite. CPU seconds are those of the admin's process alone; the executor shares the machine.

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
    every: u64,
    seconds: u64,
    executors: usize,
    flood: usize,
    failing: usize,
    shards: u64,
    look_ahead: u64,
    database_url: Option<String>,
}

fn options() -> Options {
    let mut options = Options {
        jobs: 1000,
        every: 1,
        seconds: 60,
        executors: 1,
        flood: 0,
        failing: 0,
        shards: 8,
        look_ahead: 5,
        database_url: None,
    };
    let mut given = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = given.next() {
        let value = given.next();
        let value = value.unwrap_or_else(|| panic!("{word} wants a value"));
        let number = || -> u64 { value.parse().unwrap_or_else(|_| panic!("{word}: a number")) };
        match word.as_str() {
            "--jobs" => options.jobs = number() as usize,
            "--every" => options.every = number(),
            "--seconds" => options.seconds = number(),
            "--executors" => options.executors = number() as usize,
            "--flood" => options.flood = number() as usize,
            "--failing" => options.failing = number() as usize,
            "--shards" => options.shards = number(),
            "--look-ahead" => options.look_ahead = number(),
            "--database-url" => options.database_url = Some(value),
            other => panic!("{other}: see the head of this file"),
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
    let node = Node::start(&options).await;
    let executor = Executor::start(&node, options.executors).await;
    node.create_jobs("bench", options.jobs, options.every).await;
    if options.flood > 0 {
        executor::hang(&node).await;
        node.create_jobs("flood", options.flood, 1).await;
    }
    if options.failing > 0 {
        beside_failures(&node, &executor, &options).await;
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

/// The same app in two times of one run: alone, and beside another of which every run fails.
async fn beside_failures(node: &Node, executor: &Executor, options: &Options) {
    let seconds = Duration::from_secs(options.seconds);
    let mut times = vec![];
    for beside in [false, true] {
        let other = match beside {
            true => Some(Executor::failing(node).await),
            false => None,
        };
        if beside {
            node.create_jobs("failing", options.failing, 1).await;
        }
        tokio::time::sleep(Duration::from_secs(8)).await;
        let from = executor.now();
        tokio::time::sleep(seconds).await;
        let to = executor.now();
        if let Some(other) = other {
            report::Felt::of(&other.received(), &other.called(), (from, to)).print("failing");
        }
        times.push((from, to));
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    for (name, time) in ["alone", "beside failures"].into_iter().zip(times) {
        report::Felt::of(&executor.received(), &executor.called(), time).print(name);
    }
}
