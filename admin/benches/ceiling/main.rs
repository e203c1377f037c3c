//! What the database gives at most: claim, mark and settle as the engine writes them, without HTTP and without waiting for a
//! due time. Each session works on its own shard, as a node with one shard would.
//!
//! ```text
//! cargo bench -p carillon-admin --bench ceiling -- [--db sqlite,postgres,mariadb] [--sessions 4] [--batch 200] [--seconds 10]
//!     [--report FILE]
//! ```
//!
//! Prints runs per second, the milliseconds of each of the three for 1000 runs of one session, and the CPU seconds of this
//! process for 1000 runs: those of a node's database client. SQLite's are all that there are.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking when the machine is not fit for it")]

#[path = "../node/database.rs"]
mod database;
mod report;
mod session;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carillon_admin::config;
use carillon_scheduler::{Clock as _, JobDraft, Millis, ScheduleDraft, SystemClock};
use carillon_store::{Actor, App, Definition, Store};
use clap::Parser;
use futures_util::future::join_all;
use sea_orm::{ConnectionTrait as _, DbBackend, Statement};

use database::{BenchDatabase, DatabaseChoice};
use report::{DatabaseRow, Measurement, report};
use session::{Session, WriteTimes};

#[derive(Parser)]
struct Options {
    /// Each `sqlite`, `postgres`, `mariadb`, or the URL of an empty database; all three without it
    #[arg(long, value_delimiter = ',', default_value = "sqlite,postgres,mariadb")]
    db: Vec<DatabaseChoice>,
    /// At the same time, each with a shard of its own
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(i32).range(1..=64))]
    sessions: i32,
    /// Runs of one statement
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1000))]
    batch: u32,
    /// For each database
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// Writes the table to this file too
    #[arg(long)]
    report: Option<PathBuf>,
    /// `cargo bench` adds it
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let options = Options::parse();
    rustls::crypto::ring::default_provider().install_default().unwrap_or(());
    let mut rows = vec![];
    for choice in &options.db {
        rows.push(measure(choice, &options).await);
    }
    let Options { sessions, batch, seconds, .. } = options;
    let text = report(&Measurement { sessions, batch, seconds }, &rows);
    print!("{text}");
    if let Some(file) = &options.report {
        std::fs::write(file, text).unwrap();
    }
}

async fn measure(choice: &DatabaseChoice, options: &Options) -> DatabaseRow {
    let (folder, own) = (tempfile::tempdir().unwrap(), BenchDatabase::create(choice).await);
    let database = match &own.url {
        Some(url) => config::Database::parse(url).unwrap(),
        None => config::Database::in_folder(folder.path()),
    };
    let store = Store::open(&(&database).into()).await.unwrap();
    store.migrate().await.unwrap();
    store.leases().ensure_shards(Some(options.sessions)).await.unwrap();
    let now = SystemClock::new().now();
    let app = store.apps().create("bench", "Bench", now, &actor()).await.unwrap();
    create_jobs(&store, &app, options, now).await;
    let sessions = (0..options.sessions).map(|shard| Session::take(store.clone(), shard, options.batch as usize));
    let mut sessions = join_all(sessions).await;
    // The first rounds fill caches and connections.
    run(&mut sessions, Duration::from_secs(1)).await;
    let (cpu, begun) = (cpu_seconds(), Instant::now());
    let times = run(&mut sessions, Duration::from_secs(options.seconds)).await;
    let (cpu, took) = (cpu_seconds() - cpu, begun.elapsed());
    let thousands = times.runs as f64 / 1000.0;
    let ms = |time: Duration| time.as_secs_f64() * 1000.0 / thousands;
    let row = DatabaseRow {
        database: version(&own, folder.path()).await,
        runs_a_second: times.runs as f64 / took.as_secs_f64(),
        writes_ms: [ms(times.claim), ms(times.mark), ms(times.settle)],
        cpu_seconds: cpu / thousands,
    };
    drop((sessions, store));
    own.drop_database().await;
    row
}

/// Five batches of jobs for each shard: a claim is of jobs that the one before it did not move.
async fn create_jobs(store: &Store, app: &App, options: &Options, now: Millis) {
    let job = |number| {
        let draft = JobDraft::new("bench", format!("job {number}"), "bench");
        let draft = JobDraft { schedule: ScheduleDraft::fixed_rate(1), ..draft };
        Definition::check(app, &draft, now).unwrap()
    };
    let all: Vec<u32> = (0..options.sessions.unsigned_abs() * options.batch * 5).collect();
    for page in all.chunks(1000) {
        store.jobs().create(page.iter().map(job).collect(), now, &actor(), None).await.unwrap();
    }
}

/// Product and version, in its own words.
async fn version(database: &BenchDatabase, folder: &Path) -> String {
    let db = database.connect(folder, "ro").await;
    let backend = db.get_database_backend();
    let text = match backend {
        DbBackend::Sqlite => "SELECT 'SQLite ' || sqlite_version()",
        DbBackend::Postgres => "SELECT 'PostgreSQL ' || current_setting('server_version')",
        _ => "SELECT VERSION()",
    };
    let row = db.query_one_raw(Statement::from_string(backend, text)).await.unwrap().unwrap();
    db.close().await.unwrap();
    row.try_get_by_index(0).unwrap()
}

async fn run(sessions: &mut [Session], time: Duration) -> WriteTimes {
    let until = Instant::now() + time;
    let times = join_all(sessions.iter_mut().map(|session| session.run(until))).await;
    times.into_iter().fold(WriteTimes::default(), WriteTimes::add)
}

fn actor() -> Actor {
    Actor::unlimited("bench", "127.0.0.1")
}

/// CPU time of this process, in seconds; `/proc` counts in hundredths.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}
