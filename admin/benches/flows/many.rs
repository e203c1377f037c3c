//! Many runs of a large workflow at once, beside an app whose jobs fire each second: how long a round of what follows takes, and
//! whether the other app is later than without them.

use std::time::Duration;

use carillon_testkit::{ApiClient, now_ms};
use serde_json::{Map, Value, json};

use crate::Options;
use crate::cluster::{APP, Cluster, between, median};
use crate::executors::Executors;
use crate::node::{create_jobs, print_scans};

const OTHER: &str = "other";
/// Jobs of the other app.
const JOBS: usize = 100;
const QUIET: Duration = Duration::from_secs(20);
/// The longest a round of what follows may take, in 99 of 100.
const WANTED_MS: f64 = 50.0;
/// Nodes one after the other.
const LANE: usize = 10;
/// Of the start: connections, caches, all that is claimed at once.
const START: Duration = Duration::from_secs(6);

pub async fn measure(options: &Options) {
    let (length, runs) = (options.length.unwrap_or(500), options.runs.unwrap_or(100));
    let cluster = Cluster::start(options).await;
    let admins = cluster.admins();
    let _executors = Executors::start(&admins, APP, 4).await;
    let api = &cluster.api;
    api.post("apps", json!({"name": OTHER})).await.ok();
    let others = Executors::start(&admins, OTHER, 2).await;
    create_jobs(api, OTHER, JOBS, |_| json!({"kind": "fixed_rate", "seconds": 1})).await;
    let step = cluster.create_job(json!({"app": APP, "name": "step", "handler": "step"})).await;
    let workflow = lanes(length, step);
    let workflow = json!({"app": APP, "name": "lanes", "overlap": "allow", "workflow": {"nodes": workflow}});
    let workflow = cluster.create_job(workflow).await;
    tokio::time::sleep(START).await;
    others.take_receipts();
    tokio::time::sleep(QUIET).await;
    let quiet = lateness(&others);

    let (before, begun) = (rounds(api).await, now_ms());
    let mut started = vec![];
    for _ in 0..runs {
        started.push(cluster.run(workflow).await);
    }
    let mut took = vec![];
    for run in started {
        let run = cluster.ended(run).await;
        assert_eq!(run["state"], "succeeded", "{run}");
        took.push(between(&run, "scheduled_at", "finished_at") / 1000.0);
    }
    let seconds = (now_ms() - begun) as f64 / 1000.0;
    let busy = lateness(&others);
    println!("{runs} runs of {length} nodes at once on {} nodes of the cluster", options.nodes);
    println!(
        "all ended after {seconds:.0} s, {:.0} nodes a second; a run took {:.0} s (median)",
        (runs * length) as f64 / seconds,
        median(took)
    );
    print_rounds(&before, &rounds(api).await);
    print_scans(api).await;
    println!(
        "lateness of the other app, ms: p50 {:.0}, p99 {:.0} without; p50 {:.0}, p99 {:.0} with",
        quiet.0, quiet.1, busy.0, busy.1
    );
    let verdict = if busy.1 <= quiet.1 * 1.1 + 1.0 { "within 10 %" } else { "LATER" };
    println!("{verdict}");
    cluster.end().await;
}

/// Of one job: lanes of ten nodes each that begin together.
fn lanes(length: usize, job: i64) -> Map<String, Value> {
    let node = |number: usize| {
        let after: Vec<String> = match number % LANE {
            0 => vec![],
            _ => vec![format!("n{}", number - 1)],
        };
        (format!("n{number}"), json!({"job": job, "after": after}))
    };
    (0..length).map(node).collect()
}

/// p50 and p99 of what was received since the last look.
fn lateness(executors: &Executors) -> (f64, f64) {
    let mut late: Vec<f64> = executors.take_receipts().iter().map(|it| (it.received_at - it.due_at) as f64).collect();
    late.sort_by(f64::total_cmp);
    let share = |share: f64| late[((late.len() - 1) as f64 * share) as usize];
    (share(0.5), share(0.99))
}

/// Upper bounds in seconds, and rounds up to each.
async fn rounds(api: &ApiClient) -> Vec<(f64, f64)> {
    let metrics = api.metrics().await;
    let bucket = |line: &str| {
        let (bound, count) = line.strip_prefix("carillon_advance_duration_seconds_bucket{le=\"")?.split_once("\"} ")?;
        Some((bound.replace("+Inf", "inf").parse().ok()?, count.parse().ok()?))
    };
    metrics.lines().filter_map(bucket).collect()
}

fn print_rounds(before: &[(f64, f64)], after: &[(f64, f64)]) {
    let rounds: Vec<(f64, f64)> =
        after.iter().zip(before).map(|(after, before)| (after.0, after.1 - before.1)).collect();
    let all = rounds.last().map_or(0.0, |last| last.1);
    let within =
        |share: f64| rounds.iter().find(|(_, count)| *count >= all * share).map_or(f64::NAN, |it| it.0 * 1000.0);
    let (p50, p99) = (within(0.5), within(0.99));
    let verdict = if p99 <= WANTED_MS { "held" } else { "MISSED" };
    println!(
        "transactions of what follows: {all}; half of them within {p50} ms, 99 of 100 within {p99} ms; wanted {WANTED_MS} ms: {verdict}"
    );
}
