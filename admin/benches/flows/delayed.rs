//! Delayed triggers: how fast a million of them are recorded, what they cost while they wait, and whether a thousand a second are sent
//! within their second.

use std::time::{Duration, Instant};

use carillon_testkit::now_ms;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::Options;
use crate::cluster::{APP, Cluster, median};
use crate::executors::Executors;
use crate::node::print_scans;

/// Triggers of a request, and requests at once.
const REQUEST: usize = 1_000;
const AT_ONCE: usize = 4;
/// Triggers that are due each second.
const RATE: usize = 1_000;
/// Between the recording of those that are sent and the first of them: what is due within a minute has the limit of runs by hand.
const AHEAD_MS: i64 = 75_000;
/// Looks at each page before and after.
const LOOKS: usize = 20;
const WANTED_ROWS: f64 = 20_000.0;
const WANTED_MIB: f64 = 10.0;

pub async fn measure(options: &Options) {
    let (rows, seconds) = (options.runs.unwrap_or(1_000_000), options.length.unwrap_or(60));
    let cluster = Cluster::start(options).await;
    let executors = Executors::start(&cluster.admins(), APP, 4).await;
    let job = cluster.create_job(json!({"app": APP, "name": "later", "handler": "step", "overlap": "allow"})).await;
    // Caches and pools have their size after the first requests.
    record(&cluster, job, 50 * REQUEST, now_ms() + 86_400_000).await;
    let (pages, memory) = (page_times(&cluster, job).await, cluster.nodes[0].memory());

    let begun = Instant::now();
    record(&cluster, job, rows, now_ms() + 2 * 86_400_000).await;
    let rate = rows as f64 / begun.elapsed().as_secs_f64();
    let verdict = if rate >= WANTED_ROWS { "held" } else { "MISSED" };
    println!("{rows} delayed triggers recorded, {rate:.0} a second; wanted {WANTED_ROWS}: {verdict}");

    tokio::time::sleep(Duration::from_secs(10)).await;
    let grown = cluster.nodes[0].memory().resident - memory.resident;
    let verdict = if grown <= WANTED_MIB { "held" } else { "MISSED" };
    println!("resident memory {:.0} MiB before, {grown:+.0} MiB; wanted {WANTED_MIB}: {verdict}", memory.resident);
    for ((name, before), (_, after)) in pages.iter().zip(page_times(&cluster, job).await) {
        println!("{name:20} {before:.1} ms before, {after:.1} ms with all waiting (median)");
    }

    executors.take_receipts();
    let first = now_ms() + AHEAD_MS;
    record(&cluster, job, seconds * RATE, first).await;
    let margin = first - now_ms();
    assert!(margin > 0, "the triggers were recorded after the first was due: {} ms late", -margin);
    let end = AHEAD_MS as u64 + seconds as u64 * 1_000 + 10_000;
    tokio::time::sleep(Duration::from_millis(end)).await;
    let mut late: Vec<i64> = executors.take_receipts().iter().map(|it| it.received_at - it.due_at).collect();
    late.sort_unstable();
    let share = |share: f64| late[((late.len() - 1) as f64 * share) as usize];
    let all = late.len() == seconds * RATE && share(1.0) <= 1_000 && share(0.0) >= 0;
    println!("{} of {} sent at {RATE} a second", late.len(), seconds * RATE);
    let verdict = if all { "all within their second" } else { "NOT all within their second" };
    println!("lateness p50 {} / p99 {} / max {} ms: {verdict}", share(0.5), share(0.99), share(1.0));
    print_scans(&cluster.api).await;
    cluster.end().await;
}

/// Records triggers that are due a millisecond apart.
async fn record(cluster: &Cluster, job: i64, count: usize, first: i64) {
    let requests = (0..count).step_by(REQUEST).map(|from| async move {
        let run = |number: usize| {
            let at = chrono::DateTime::from_timestamp_millis(first + number as i64).unwrap();
            json!({"at": at.to_rfc3339()})
        };
        let runs: Vec<Value> = (from..count.min(from + REQUEST)).map(run).collect();
        cluster.api.post(&format!("jobs/{job}/run-many"), json!({"runs": runs})).await.ok();
    });
    stream::iter(requests).buffer_unordered(AT_ONCE).for_each(|()| async {}).await;
}

/// What must not become slower while many wait, in milliseconds.
async fn page_times(cluster: &Cluster, job: i64) -> Vec<(&'static str, f64)> {
    let mut times = vec![];
    let draft = cluster.api.get(&format!("jobs/{job}")).await.ok();
    for name in ["list of runs", "job", "scheduled runs", "edit of the job", "metrics"] {
        let mut took = vec![];
        for number in 0..LOOKS {
            let begun = Instant::now();
            match name {
                "list of runs" => drop(cluster.api.get("runs?limit=50").await.ok()),
                "job" => drop(cluster.api.get(&format!("jobs/{job}")).await.ok()),
                "scheduled runs" => drop(cluster.api.get(&format!("jobs/{job}/scheduled?limit=50")).await.ok()),
                "metrics" => drop(cluster.api.metrics().await),
                _ => {
                    let mut edited = draft.clone();
                    edited["description"] = json!(format!("edit {number}"));
                    edited.as_object_mut().unwrap().remove("revision");
                    cluster.api.put(&format!("jobs/{job}"), edited).await.ok();
                }
            }
            took.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        times.push((name, median(took)));
    }
    times
}
