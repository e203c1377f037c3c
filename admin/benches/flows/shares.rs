//! Two apps, of which one has ten times the runs of the other, at one limit: each gets the half of the slots.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Options;
use crate::cluster::{APP, Cluster};
use crate::executors::Executors;

const SMALL: &str = "small";
const LIMIT: &str = "shared";
const SLOTS: usize = 2;
/// Runs a second of the small app; both have more than the limit lets through.
const RUNS: usize = 100;
const TIMES: usize = 10;
/// Until both apps have runs that wait.
const START: Duration = Duration::from_secs(10);
/// Per cent of all runs.
const WANTED: std::ops::RangeInclusive<f64> = 45.0..=55.0;

pub async fn measure(options: &Options) {
    let lasts = Duration::from_secs(options.length.unwrap_or(60) as u64);
    let cluster = Cluster::start(options).await;
    let (api, admins) = (&cluster.api, cluster.admins());
    api.post("apps", json!({"name": SMALL})).await.ok();
    api.post("limits", json!({"name": LIMIT, "max": SLOTS})).await.ok();
    let large = Executors::start(&admins, APP, 2).await;
    let small = Executors::start(&admins, SMALL, 2).await;
    for (app, count) in [(APP, TIMES * RUNS), (SMALL, RUNS)] {
        api.post("jobs:batch", (0..count).map(|number| job(app, number)).collect()).await.ok();
    }
    tokio::time::sleep(START).await;
    for executors in [&large, &small] {
        executors.take_receipts();
    }
    tokio::time::sleep(lasts).await;
    let [large, small] = [&large, &small].map(|it| it.take_receipts().len() as f64 / lasts.as_secs_f64());

    println!("{TIMES} : 1 runs of two apps through {SLOTS} slots for {} s, {} nodes", lasts.as_secs(), options.nodes);
    for (name, due, sent) in [("large", TIMES * RUNS, large), ("small", RUNS, small)] {
        println!("{name}: {due} runs due a second, {sent:.1} sent");
    }
    assert!(small < RUNS as f64, "the small app never waited: its share says nothing");
    let share = 100.0 * small / (small + large);
    let verdict = if WANTED.contains(&share) { "held" } else { "MISSED" };
    println!("share of the small app: {share:.1} %; wanted {} to {} %: {verdict}", WANTED.start(), WANTED.end());
    cluster.end().await;
}

/// Each second; its fires wait, however many there are.
fn job(app: &str, number: usize) -> Value {
    json!({
        "app": app, "name": format!("{app} {number}"), "handler": "step", "limits": [LIMIT], "overlap": "allow",
        "schedule": {"kind": "fixed_rate", "seconds": 1},
    })
}
