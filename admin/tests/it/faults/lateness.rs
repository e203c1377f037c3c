//! The lateness that a node reports is that which its executor sees.

use std::time::Duration;

use serde_json::json;

use super::load::{Load, every_second};
use crate::program::settings;

/// Upper bounds of the histogram's buckets, in ms.
const BOUNDS: [(&str, f64); 8] = [
    ("0.005", 5.0),
    ("0.01", 10.0),
    ("0.025", 25.0),
    ("0.05", 50.0),
    ("0.1", 100.0),
    ("0.25", 250.0),
    ("0.5", 500.0),
    ("1", 1000.0),
];
/// A run comes to the executor later than it leaves the node: by this, and on a machine under load by a part of its
/// lateness.
const ON_THE_WAY_MS: f64 = 5.0;
const ON_THE_WAY_PART: f64 = 0.25;

// covers: 000-12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_reported_lateness_agrees_with_that_of_an_outside_observer() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path());
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 1, vec![every_second(&json!({})); 5]).await;
    load.until_received(100).await;
    load.api.disable(&load.jobs).await;
    load.api.runs_at_the_end(Duration::from_secs(60)).await;

    let seen: Vec<f64> = load.receipts().iter().map(|run| (run.received_at - run.due_at) as f64).collect();
    let metric = async |suffix: &str| load.api.metric(&format!("carillon_lateness_seconds_{suffix}")).await;
    assert_eq!(metric("count").await, seen.len() as f64, "both count the same runs");
    let (reported, observed) = (metric("sum").await * 1000.0 / seen.len() as f64, mean(&seen));
    let limit = observed + 1.0;
    assert!(reported <= limit, "reported {reported} ms, observed {observed} ms: a run is received after it was sent");
    let limit = observed * (1.0 - ON_THE_WAY_PART) - ON_THE_WAY_MS;
    assert!(reported >= limit, "reported {reported} ms, observed {observed} ms on average");
    for (label, bound) in BOUNDS {
        let reported = metric(&format!("bucket{{le=\"{label}\"}}")).await;
        let within = |limit: f64| seen.iter().filter(|late| **late <= limit).count() as f64;
        let (least, most) = (within(bound - 1.0), within(bound * (1.0 + ON_THE_WAY_PART) + ON_THE_WAY_MS));
        // One of a hundred may have been held up on its way.
        let most = most + seen.len() as f64 / 100.0;
        assert!((least..=most.ceil()).contains(&reported), "up to {bound} ms: {reported}, observed {least} to {most}");
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
