//! How many runs, how late, at what cost: the real binary with jobs that fire together, and executors that answer at once
//! and call back.
//!
//! ```text
//! cargo bench -p carillon-admin --bench throughput -- [--jobs 1000] [--every 1] [--seconds 60] [--executors 1]
//!     [--flood 0] [--failing 0] [--shards 8] [--look-ahead 5] [--batch] [--database-url URL]
//! ```
//!
//! `--help` explains each option. With `--failing` the report has three lines for the first app: alone, beside another app of which
//! every run succeeds, and beside the same of which every run fails. The CPU seconds are those of the admin's process alone; the
//! executor shares the machine.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking when the machine is not fit for it")]

#[path = "../node/mod.rs"]
mod node;
mod report;

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use carillon_testkit::{AdminClient, ApiClient, Callback, Receipt, RecordingExecutor, Reply, now_ms};
use clap::Parser;
use serde_json::{Value, json};

/// The node reads all registrations once a second.
const REGISTERED: Duration = Duration::from_millis(1500);

/// Executors of one app that accept runs at once and report their results in lists, as the SDK does.
struct Executors {
    all: Vec<RecordingExecutor>,
    /// Of each result.
    code: Arc<AtomicI32>,
}

impl Executors {
    /// Every run succeeds.
    async fn start(admin: &AdminClient, app: &str, count: usize) -> Self {
        let mut executors = Self { all: vec![], code: Arc::new(AtomicI32::new(200)) };
        for _ in 0..count {
            let (executor, code) = (RecordingExecutor::start().await, executors.code.clone());
            executor.forget_calls();
            executor.register(admin, app).await;
            executor.report(admin, move |_| (code.load(Ordering::Relaxed), String::new()));
            executors.all.push(executor);
        }
        tokio::time::sleep(REGISTERED).await;
        executors
    }

    fn receipts(&self) -> Vec<Receipt> {
        self.all.iter().flat_map(RecordingExecutor::receipts).collect()
    }

    fn callbacks(&self) -> Vec<Callback> {
        self.all.iter().flat_map(RecordingExecutor::callbacks).collect()
    }
}

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
    /// The executors take several runs in one request, as those of our SDK
    #[arg(long)]
    batch: bool,
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
    let settings = node::settings(folder.path(), options.database_url.as_deref());
    let mut settings =
        settings.arg(format!("--shards={}", options.shards)).arg(format!("--look-ahead={}s", options.look_ahead));
    let (process, api) = node::start(&mut settings).await;
    let admin = AdminClient::new([process.url()], &settings.access_token);
    let admin = if options.batch { admin.with_capabilities("batch") } else { admin };
    for app in ["bench", "flood", "failing"] {
        api.post("apps", json!({"name": app})).await.ok();
    }
    let executors = Executors::start(&admin, "bench", options.executors).await;
    node::create_jobs(&api, "bench", options.jobs, &every(options.every)).await;
    let hanging = Executors::start(&admin, "flood", options.flood.min(1)).await;
    hanging.all.iter().for_each(|executor| executor.reply(Reply::Never));
    node::create_jobs(&api, "flood", options.flood, &every(1)).await;
    if options.failing > 0 {
        beside_failures(&api, &admin, &executors, &options).await;
        return process.kill().await;
    }
    // The first seconds belong to the start: connections, caches, five seconds claimed at once.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let (before, from) = (process.usage(), now_ms());
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    let (after, to) = (process.usage(), now_ms());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let received = executors.receipts();
    report::print(&received, options.every, (from, to), (&before, &after));
    node::print_scans(&api).await;
    process.kill().await;
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
async fn beside_failures(api: &ApiClient, admin: &AdminClient, executors: &Executors, options: &Options) {
    let mut times = vec![measured(options).await];
    let other = Executors::start(admin, "failing", 1).await;
    node::create_jobs(api, "failing", options.failing, &every(1)).await;
    times.push(measured(options).await);
    other.code.store(500, Ordering::Relaxed);
    times.push(measured(options).await);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let names = ["alone", "beside successes", "beside failures"];
    for (name, time) in names.into_iter().zip(&times) {
        report::Felt::of(&executors.receipts(), &executors.callbacks(), *time).print(name);
    }
    for (name, time) in ["the other, succeeding", "the other, failing"].into_iter().zip(&times[1..]) {
        report::Felt::of(&other.receipts(), &other.callbacks(), *time).print(name);
    }
}

/// From when to when, without the first seconds.
async fn measured(options: &Options) -> (i64, i64) {
    tokio::time::sleep(Duration::from_secs(8)).await;
    let from = now_ms();
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    (from, now_ms())
}
