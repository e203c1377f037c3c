//! Loops on one executor: what the database writes with them and without, and how late their calls are.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use carillon_testkit::{Process, now_ms};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};
use serde_json::{Value, json};

use crate::Options;
use crate::cluster::{APP, Cluster};
use crate::worker;

const FAST: usize = 20;
const FAST_MS: i64 = 50;
const SLOW: usize = 200;
const SLOW_MS: i64 = 1_000;
/// For registrations, and for grants.
const START: Duration = Duration::from_secs(15);
/// By how many the writes of a second may differ.
const WANTED_WRITES: f64 = 1.0;
/// Of 99 calls in 100.
const WANTED_LATE_MS: f64 = 5.0;

pub async fn measure(options: &Options) {
    let lasts = Duration::from_secs(options.length.unwrap_or(60) as u64);
    let cluster = Cluster::start(options).await;
    let server = cluster.server().await;
    let file = cluster.folder.path().join("lateness");
    let executor = start(&cluster, &file);
    executor.after("ready").await;
    tokio::time::sleep(START).await;
    let without = Window::watch(&cluster, server.as_ref(), &executor, lasts).await;
    cluster.api.post("jobs:batch", (0..FAST + SLOW).map(job).collect()).await.ok();
    tokio::time::sleep(START).await;
    let with = Window::watch(&cluster, server.as_ref(), &executor, lasts).await;
    tokio::time::sleep(2 * worker::WRITTEN_EVERY).await;

    println!(
        "{SLOW} best-effort jobs of {SLOW_MS} ms and {FAST} of {FAST_MS} ms on one executor, {} nodes",
        options.nodes
    );
    Window::print(&without, &with, server.as_ref());
    let calls = std::fs::read_to_string(&file).unwrap();
    print_calls(&calls, "slow", SLOW, SLOW_MS, &with);
    let p99 = print_calls(&calls, "fast", FAST, FAST_MS, &with);
    let verdict = if p99 < WANTED_LATE_MS { "held" } else { "MISSED" };
    println!("lateness p99 of those of {FAST_MS} ms: {p99:.2} ms; wanted below {WANTED_LATE_MS} ms: {verdict}");
    drop(executor);
    cluster.end().await;
}

fn job(number: usize) -> Value {
    let (params, schedule) = match number < FAST {
        true => ("fast", json!({"kind": "fixed_rate", "milliseconds": FAST_MS})),
        false => ("slow", json!({"kind": "fixed_rate", "seconds": SLOW_MS / 1_000})),
    };
    json!({
        "app": APP, "name": format!("loop {number}"), "handler": "tick", "params": params, "durability": "best_effort",
        "schedule": schedule,
    })
}

/// One more process of this program, as an executor.
fn start(cluster: &Cluster, lateness: &Path) -> Process {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let urls: Vec<String> = cluster.nodes.iter().map(|node| node.url()).collect();
    command
        .env(worker::ADMINS, urls.join(","))
        .env(worker::TOKEN, &cluster.settings.access_token)
        .env(worker::DATA, cluster.folder.path().join("executor"))
        .env(worker::LATENESS, lateness);
    Process::spawn(command)
}

/// What happened in a time, in figures of a second.
struct Window {
    from: i64,
    to: i64,
    /// See [`writes_text`]; and rows that were written.
    writes: f64,
    rows: f64,
    /// CPU, per cent of a core: of the first node and of the executor.
    node: f64,
    executor: f64,
}

impl Window {
    async fn watch(
        cluster: &Cluster,
        server: Option<&DatabaseConnection>,
        executor: &Process,
        lasts: Duration,
    ) -> Self {
        let cpu = |process: &Process| {
            let usage = process.usage();
            usage.user + usage.system
        };
        let look = async || {
            let counts = match server {
                Some(server) => [count(server, writes_text(server)).await, count(server, rows_text(server)).await],
                None => [f64::NAN; 2],
            };
            (now_ms(), counts, [cpu(&cluster.nodes[0]), cpu(executor)])
        };
        let (from, counts_before, cpu_before) = look().await;
        tokio::time::sleep(lasts).await;
        let (to, counts_after, cpu_after) = look().await;
        let seconds = (to - from) as f64 / 1_000.0;
        let [writes, rows] = [0, 1].map(|index| (counts_after[index] - counts_before[index]) / seconds);
        let [node, executor] = [0, 1].map(|index| 100.0 * (cpu_after[index] - cpu_before[index]) / seconds);
        Self { from, to, writes, rows, node, executor }
    }

    fn print(without: &Self, with: &Self, server: Option<&DatabaseConnection>) {
        let line = |name: &str, of: fn(&Self) -> f64| println!("{name:36}{:>10.2}{:>10.2}", of(without), of(with));
        println!("{:36}{:>10}{:>10}", "", "without", "with");
        line("CPU of the node, % of a core", |it| it.node);
        line("CPU of the executor, % of a core", |it| it.executor);
        let Some(server) = server else {
            println!("writes are counted on a server only: --db postgres or --db mariadb");
            return;
        };
        let unit =
            if is_postgres(server) { "transactions that write, a second" } else { "statements that write, a second" };
        line(unit, |it| it.writes);
        line("rows written, a second", |it| it.rows);
        let more = with.writes - without.writes;
        let verdict = if more.abs() <= WANTED_WRITES { "held" } else { "MISSED" };
        println!("writes: {more:+.2} a second; wanted within {WANTED_WRITES}: {verdict}");
    }
}

fn is_postgres(server: &DatabaseConnection) -> bool {
    server.get_database_backend() == DbBackend::Postgres
}

/// On PostgreSQL a transaction has a number once it writes or locks a row. MariaDB counts statements.
fn writes_text(server: &DatabaseConnection) -> &'static str {
    match is_postgres(server) {
        true => "SELECT txid_snapshot_xmax(txid_current_snapshot())",
        false => {
            "SELECT CAST(SUM(variable_value) AS SIGNED) FROM information_schema.global_status WHERE variable_name IN \
             ('COM_INSERT', 'COM_INSERT_SELECT', 'COM_REPLACE', 'COM_REPLACE_SELECT', 'COM_UPDATE', 'COM_UPDATE_MULTI', \
             'COM_DELETE', 'COM_DELETE_MULTI')"
        }
    }
}

fn rows_text(server: &DatabaseConnection) -> &'static str {
    match is_postgres(server) {
        true => {
            "SELECT (tup_inserted + tup_updated + tup_deleted)::bigint FROM pg_stat_database WHERE datname = current_database()"
        }
        false => {
            "SELECT CAST(SUM(variable_value) AS SIGNED) FROM information_schema.global_status WHERE variable_name IN \
             ('HANDLER_WRITE', 'HANDLER_UPDATE', 'HANDLER_DELETE')"
        }
    }
}

async fn count(server: &DatabaseConnection, text: &str) -> f64 {
    let rows = server.query_all_raw(Statement::from_string(server.get_database_backend(), text)).await.unwrap();
    rows[0].try_get_by_index::<i64>(0).unwrap() as f64
}

/// Of the jobs with these parameters; answers the p99 in ms.
fn print_calls(calls: &str, params: &str, jobs: usize, period_ms: i64, window: &Window) -> f64 {
    let call = |line: &str| {
        let mut words = line.strip_prefix(params)?.split_whitespace();
        let (at, late_us): (i64, i64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        (at >= window.from && at < window.to).then_some(late_us as f64 / 1_000.0)
    };
    let mut late: Vec<f64> = calls.lines().filter_map(call).collect();
    late.sort_by(f64::total_cmp);
    let expected = jobs as i64 * (window.to - window.from) / period_ms;
    assert!(!late.is_empty(), "no job of {period_ms} ms was called");
    let share = |share: f64| late[((late.len() - 1) as f64 * share) as usize];
    println!(
        "{jobs} jobs of {period_ms} ms: {} calls of {expected}; lateness p50 {:.2} / p99 {:.2} / max {:.2} ms, earliest {:.2} ms",
        late.len(),
        share(0.5),
        share(0.99),
        share(1.0),
        share(0.0)
    );
    share(0.99)
}
