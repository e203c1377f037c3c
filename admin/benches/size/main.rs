//! What a node costs that has many idle jobs and many ended runs in its database, and almost nothing to do: the real binary.
//!
//! ```text
//! cargo bench -p carillon-admin --bench size -- [--jobs 1000000] [--runs 0] [--seconds 60] [--create 0] [--executors 0] [--aged 0] [--after 45] [--db sqlite]
//! ```
//!
//! `--create 100000` creates that number of jobs through the API before, in batches of 1000 on two connections, and reports the rate. After
//! the idle time the benchmark asks for each list of the API five times and reports the slowest ones by their median. With
//! `--executors 10000` that number of executors of xxl-job send their heartbeats meanwhile. With `--aged 120` the runs have ended as many
//! days earlier, so that the retention deletes most of them meanwhile, and the benchmark reports at which rate.
//!
//! The temporary folder is below `TMPDIR`; 10,000,000 runs take about 4 GB. The benchmark writes the rows by SQL and starts the
//! binary again. The CPU seconds are those of the admin's process alone. On PostgreSQL the benchmark looks at the running
//! statements twenty times a second and reports the one that has run for the longest time.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking when the machine is not fit for it")]

mod create;
mod executors;
mod fill;
mod lists;
#[path = "../node/mod.rs"]
mod node;

use std::time::{Duration, Instant};

use clap::Parser;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};
use serde_json::json;

use carillon_testkit::{AdminClient, ApiClient};
use executors::IdleExecutors;
use node::{BenchDatabase, DatabaseChoice};

#[derive(Parser)]
struct Options {
    /// Idle jobs
    #[arg(long, default_value_t = 1_000_000)]
    jobs: i64,
    /// Ended runs
    #[arg(long, default_value_t = 0)]
    runs: i64,
    /// Jobs that are created through the API before, in batches; 0: none
    #[arg(long, default_value_t = 0)]
    create: usize,
    /// Executors that send a heartbeat each 30 s, and get no run
    #[arg(long, default_value_t = 0)]
    executors: usize,
    /// How many days earlier the runs have ended
    #[arg(long, default_value_t = 0)]
    aged: i64,
    /// How long to measure
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How many seconds after the start: 30 s after it the first node of a database looks at each job once, for the edition of the
    /// time zone data, which takes 1.3 s of CPU time for 100,000 jobs
    #[arg(long, default_value_t = 45)]
    after: u64,
    /// `sqlite`, `postgres`, `mariadb`, or the URL of an empty database
    #[arg(long, default_value = "sqlite")]
    db: DatabaseChoice,
    /// `cargo bench` adds it
    #[arg(long, hide = true)]
    bench: bool,
}

/// How long the oldest statement of others has been under way, in ms, and which it is.
async fn oldest(db: &DatabaseConnection) -> Option<(f64, String)> {
    let text = "SELECT (EXTRACT(EPOCH FROM clock_timestamp() - query_start) * 1000)::float8, query FROM pg_stat_activity \
                WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
                ORDER BY query_start LIMIT 1";
    let row = db.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await.unwrap()?;
    Some((row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap()))
}

async fn pruned(api: &ApiClient) -> f64 {
    let metrics = api.metrics().await;
    metrics.lines().find_map(|line| line.strip_prefix("carillon_runs_pruned_total ")?.parse().ok()).unwrap_or(0.0)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let options = Options::parse();
    rustls::crypto::ring::default_provider().install_default().unwrap_or(());
    let folder = tempfile::tempdir().unwrap();
    let database = BenchDatabase::create(&options.db).await;
    let mut settings = node::settings(None, folder.path(), database.url.as_deref());
    let (process, api) = node::start(&mut settings).await;
    api.post("apps", json!({"name": "bench"})).await.ok();
    let schedule = json!({"kind": "cron", "expression": "0 0 3 1 1 ?", "timezone": "UTC"});
    node::create_jobs(&api, "bench", 1, |_| schedule.clone()).await;
    if options.create > 0 {
        create::measure(&api, &process, options.create, &schedule).await;
    }
    process.kill().await;
    let db = database.connect(folder.path(), "rw").await;
    let begun = Instant::now();
    fill::fill(&db, &options).await;
    println!("rows written           in {} s", begun.elapsed().as_secs());
    if db.get_database_backend() == DbBackend::Sqlite {
        // The file is the node's alone.
        db.clone().close().await.unwrap();
    }

    let begun = Instant::now();
    let (process, api) = node::start(&mut settings).await;
    println!("ready after a restart  {} ms", begun.elapsed().as_millis());
    let admin = AdminClient::new([process.url()], &settings.access_token);
    // Leases of the process before have to end first, which takes as long as a round of heartbeats.
    let executors = IdleExecutors::start(&api, &admin, options.executors).await;
    tokio::time::sleep(Duration::from_secs(options.after)).await;
    let (before, begun) = (process.usage(), Instant::now());
    let pruned_before = pruned(&api).await;
    let mut slowest = (0.0, String::new());
    while begun.elapsed() < Duration::from_secs(options.seconds) {
        if db.get_database_backend() == DbBackend::Postgres
            && let Some(seen) = oldest(&db).await
            && seen.0 > slowest.0
        {
            slowest = seen;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (after, seconds) = (process.usage(), begun.elapsed().as_secs_f64());
    println!("jobs / runs            {} / {}", options.jobs, options.runs);
    println!("executors              {}, {} heartbeats refused", options.executors, executors.refused());
    println!(
        "CPU of a core          {:.2} %",
        (after.user + after.system - before.user - before.system) / seconds * 100.0
    );
    let pruned = pruned(&api).await - pruned_before;
    if pruned > 0.0 {
        println!("runs deleted           {pruned:.0}, {:.0} a second", pruned / seconds);
    }
    let memory = process.memory();
    println!("memory                 {:.0} MiB", after.resident);
    println!("of it anonymous        {:.0} MiB", memory.anonymous);
    node::print_scans(&api).await;
    if slowest.0 > 0.0 {
        println!("slowest statement      {:.0} ms: {:.90}", slowest.0, slowest.1);
    }
    executors.stop();
    lists::measure(&api).await;
    process.kill().await;
    db.close().await.unwrap_or(());
    database.drop_database().await;
}
