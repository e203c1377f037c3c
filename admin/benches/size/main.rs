//! What a node costs that has many idle jobs and many ended runs in its database, and almost nothing to do: the real binary.
//!
//! ```text
//! cargo bench -p carillon-admin --bench size -- [--jobs 1000000] [--runs 0] [--seconds 60] [--db sqlite]
//! ```
//!
//! The temporary folder is below `TMPDIR`; 10,000,000 runs take about 4 GB. The benchmark writes the rows by SQL and starts the
//! binary again. The CPU seconds are those of the admin's process alone. On PostgreSQL the benchmark looks at the running
//! statements twenty times a second and reports the one that has run for the longest time.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking when the machine is not fit for it")]

#[path = "../node/mod.rs"]
mod node;

use std::time::{Duration, Instant};

use carillon_scheduler::{Clock as _, SystemClock};
use clap::Parser;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};
use serde_json::json;

use node::{BenchDatabase, DatabaseChoice};

#[derive(Parser)]
struct Options {
    /// Idle jobs
    #[arg(long, default_value_t = 1_000_000)]
    jobs: i64,
    /// Ended runs
    #[arg(long, default_value_t = 0)]
    runs: i64,
    /// How long to measure
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// `sqlite`, `postgres`, `mariadb`, or the URL of an empty database
    #[arg(long, default_value = "sqlite")]
    db: DatabaseChoice,
    /// `cargo bench` adds it
    #[arg(long, hide = true)]
    bench: bool,
}

/// The numbers from 1 to `count` as a table `n(i)`.
fn numbers(backend: DbBackend, count: i64) -> String {
    match backend {
        DbBackend::Postgres => format!("generate_series(1, CAST({count} AS BIGINT)) AS n(i)"),
        DbBackend::MySql => format!("(SELECT seq AS i FROM seq_1_to_{count}) AS n"),
        _ => format!(
            "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT i FROM n) AS n"
        ),
    }
}

/// Copies of the first job, and runs of it that have ended in the last twenty days.
async fn fill(db: &DatabaseConnection, options: &Options) {
    let backend = db.get_database_backend();
    let list = match backend {
        DbBackend::Sqlite => "SELECT name FROM pragma_table_info('job')",
        DbBackend::Postgres => "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'job'",
        _ => {
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'job' AND table_schema = DATABASE()"
        }
    };
    let rows = db.query_all_raw(Statement::from_string(backend, list)).await.unwrap();
    let columns: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
    let first = "(SELECT MIN(id) FROM job)";
    let base = 1_000_000;
    let value = |column: &String| match column.as_str() {
        "id" => format!("{base} + n.i"),
        "shard" => format!("({base} + n.i) % 8"),
        other => format!("job.{other}"),
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let from = format!("FROM {}", numbers(backend, options.jobs));
    let now = SystemClock::new().now();
    let (runs, age) = (options.runs.max(1), 20 * 86_400_000_i64);
    let at = format!("{now} - {age} + n.i * {age} / {runs}");
    let texts = [
        format!(
            "INSERT INTO job ({}) SELECT {} {from} JOIN job ON job.id = {first}",
            columns.join(", "),
            values.join(", ")
        ),
        format!("INSERT INTO job_params (job_id, params) SELECT {base} + n.i, '' {from}"),
        format!(
            "INSERT INTO job_clock (shard, next_fire_at, job_id, revision) SELECT ({base} + n.i) % 8, c.next_fire_at, {base} + n.i, \
             c.revision {from} JOIN (SELECT * FROM job_clock WHERE job_id = {first}) AS c ON TRUE"
        ),
        format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, \
             finished_at) SELECT n.i, job.id, job.app_id, job.shard, 0, {at}, 0, 1, 1, {at}, {at}, 9, 1, 1, {at} FROM {} \
             JOIN job ON job.id = {first}",
            numbers(backend, options.runs)
        ),
        format!("UPDATE id_block SET next = {}", base + options.jobs + options.runs + 1000),
    ];
    for (index, text) in texts.iter().enumerate() {
        if index < 3 && options.jobs == 0 || index == 3 && options.runs == 0 {
            continue;
        }
        db.execute_unprepared(text).await.unwrap();
    }
    match backend {
        DbBackend::Postgres => drop(db.execute_unprepared("VACUUM ANALYZE").await.unwrap()),
        DbBackend::Sqlite => drop(db.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap()),
        _ => {}
    }
}

/// How long the oldest statement of others has been under way, in ms, and which it is.
async fn oldest(db: &DatabaseConnection) -> Option<(f64, String)> {
    let text = "SELECT (EXTRACT(EPOCH FROM clock_timestamp() - query_start) * 1000)::float8, query FROM pg_stat_activity \
                WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
                ORDER BY query_start LIMIT 1";
    let row = db.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await.unwrap()?;
    Some((row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap()))
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
    process.kill().await;
    let db = database.connect(folder.path(), "rw").await;
    let begun = Instant::now();
    fill(&db, &options).await;
    println!("rows written           in {} s", begun.elapsed().as_secs());
    if db.get_database_backend() == DbBackend::Sqlite {
        // The file is the node's alone.
        db.clone().close().await.unwrap();
    }

    let begun = Instant::now();
    let (process, api) = node::start(&mut settings).await;
    println!("ready after a restart  {} ms", begun.elapsed().as_millis());
    // Leases of the process before have to end first.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let (before, begun) = (process.usage(), Instant::now());
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
    println!(
        "CPU of a core          {:.2} %",
        (after.user + after.system - before.user - before.system) / seconds * 100.0
    );
    println!("memory                 {:.0} MiB", after.resident);
    node::print_scans(&api).await;
    if slowest.0 > 0.0 {
        println!("slowest statement      {:.0} ms: {:.90}", slowest.0, slowest.1);
    }
    process.kill().await;
    db.close().await.unwrap_or(());
    database.drop_database().await;
}
