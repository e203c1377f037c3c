//! What a node costs that has much on record and little to do: the real binary on a database with so many idle jobs and so
//! many runs.
//!
//! ```text
//! cargo bench -p carillon-admin --bench size -- [--jobs 1000000] [--runs 0] [--seconds 60] [--database-url URL]
//! ```
//!
//! Without a URL on SQLite, in a temporary folder (`TMPDIR`); 10,000,000 runs take about 4 GB. Rows are written by SQL, then the
//! binary is started anew. CPU seconds are those of its process alone. On PostgreSQL the slowest statement is the oldest one
//! that was seen under way; it is looked for twenty times a second.

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark ends by panicking when the machine is not fit for it"
)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use carillon_scheduler::{Clock as _, SystemClock};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};
use serde_json::json;

struct Options {
    jobs: i64,
    runs: i64,
    seconds: u64,
    database_url: Option<String>,
}

fn options() -> Options {
    let mut options = Options {
        jobs: 1_000_000,
        runs: 0,
        seconds: 60,
        database_url: None,
    };
    let mut given = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = given.next() {
        let value = given
            .next()
            .unwrap_or_else(|| panic!("{word} wants a value"));
        let number = || -> i64 { value.parse().unwrap_or_else(|_| panic!("{word}: a number")) };
        match word.as_str() {
            "--jobs" => options.jobs = number(),
            "--runs" => options.runs = number(),
            "--seconds" => options.seconds = number().unsigned_abs(),
            "--database-url" => options.database_url = Some(value),
            other => panic!("{other}: see the head of this file"),
        }
    }
    options
}

const API_TOKEN: &str = "0123456789abcdef0123456789abcdef";
const ACCESS_TOKEN: &str = "fedcba9876543210fedcba9876543210";

struct Node {
    process: Child,
    url: String,
    ready_after: Duration,
}

impl Node {
    async fn start(options: &Options, folder: &Path) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let mut command = Command::new(env!("CARGO_BIN_EXE_carillon"));
        command
            .args(["serve", "--listen", &address.to_string()])
            .args(["--access-token", ACCESS_TOKEN, "--api-token", API_TOKEN])
            .arg("--data-dir")
            .arg(folder)
            .env("RUST_LOG", "warn")
            .stdout(Stdio::null());
        if let Some(url) = &options.database_url {
            command.args(["--database-url", url]);
        }
        let started = Instant::now();
        let process = command.spawn().unwrap();
        let url = format!("http://{address}");
        while reqwest::get(format!("{url}/readyz"))
            .await
            .is_ok_and(|answer| answer.status() == 200)
            .eq(&false)
        {
            assert!(started.elapsed() < Duration::from_secs(120), "not ready");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Self {
            process,
            url,
            ready_after: started.elapsed(),
        }
    }

    async fn call(&self, path: &str, body: serde_json::Value) {
        let client = reqwest::Client::new();
        let call = client
            .post(format!("{}/api/v1/{path}", self.url))
            .bearer_auth(API_TOKEN)
            .json(&body);
        let answer = call.send().await.unwrap();
        assert!(
            answer.status().is_success(),
            "{path}: {}",
            answer.text().await.unwrap()
        );
    }

    /// CPU seconds so far, and resident memory in MiB.
    fn usage(&self) -> (f64, f64) {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        let number = |index: usize| fields[index].parse::<f64>().unwrap();
        ((number(11) + number(12)) / 100.0, number(21) * 4.0 / 1024.0)
    }

    fn stop(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
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
        DbBackend::Postgres => {
            "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'job'"
        }
        _ => {
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'job' AND table_schema = DATABASE()"
        }
    };
    let rows = db
        .query_all_raw(Statement::from_string(backend, list))
        .await
        .unwrap();
    let columns: Vec<String> = rows
        .iter()
        .map(|row| row.try_get_by_index(0).unwrap())
        .collect();
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
        format!(
            "UPDATE id_block SET next = {}",
            base + options.jobs + options.runs + 1000
        ),
    ];
    for (index, text) in texts.iter().enumerate() {
        if index < 3 && options.jobs == 0 || index == 3 && options.runs == 0 {
            continue;
        }
        db.execute_unprepared(text).await.unwrap();
    }
    match backend {
        DbBackend::Postgres => drop(db.execute_unprepared("VACUUM ANALYZE").await.unwrap()),
        DbBackend::Sqlite => drop(
            db.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)")
                .await
                .unwrap(),
        ),
        _ => {}
    }
}

/// How long the oldest statement of others has been under way, in ms, and which it is.
async fn oldest(db: &DatabaseConnection) -> Option<(f64, String)> {
    let text = "SELECT (EXTRACT(EPOCH FROM clock_timestamp() - query_start) * 1000)::float8, query FROM pg_stat_activity \
                WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
                ORDER BY query_start LIMIT 1";
    let row = db
        .query_one_raw(Statement::from_string(DbBackend::Postgres, text))
        .await
        .unwrap()?;
    Some((
        row.try_get_by_index(0).unwrap(),
        row.try_get_by_index(1).unwrap(),
    ))
}

async fn connect(options: &Options, folder: &Path) -> DatabaseConnection {
    let file = format!("sqlite://{}?mode=rw", folder.join("carillon.db").display());
    let url = options.database_url.clone().unwrap_or(file);
    let mut connect = sea_orm::ConnectOptions::new(url);
    connect.max_connections(1).sqlx_logging(false);
    sea_orm::Database::connect(connect).await.unwrap()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let options = options();
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap_or(());
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start(&options, folder.path()).await;
    node.call("apps", json!({"name": "bench"})).await;
    let schedule = json!({"kind": "cron", "expression": "0 0 3 1 1 ?", "timezone": "UTC"});
    node.call(
        "jobs",
        json!({"app": "bench", "name": "idle", "handler": "bench", "schedule": schedule}),
    )
    .await;
    node.stop();
    let db = connect(&options, folder.path()).await;
    let begun = Instant::now();
    fill(&db, &options).await;
    println!("rows written           in {} s", begun.elapsed().as_secs());
    if db.get_database_backend() == DbBackend::Sqlite {
        // The file is the node's alone.
        db.clone().close().await.unwrap();
    }

    let node = Node::start(&options, folder.path()).await;
    println!("ready after a restart  {} ms", node.ready_after.as_millis());
    // Leases of the process before have to end first.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let (before, begun) = (node.usage(), Instant::now());
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
    let (after, seconds) = (node.usage(), begun.elapsed().as_secs_f64());
    println!("jobs / runs            {} / {}", options.jobs, options.runs);
    println!(
        "CPU of a core          {:.2} %",
        (after.0 - before.0) / seconds * 100.0
    );
    println!("memory                 {:.0} MiB", after.1);
    if slowest.0 > 0.0 {
        println!(
            "slowest statement      {:.0} ms: {:.90}",
            slowest.0, slowest.1
        );
    }
    node.stop();
}
