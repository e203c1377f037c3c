//! The lateness that a node reports is that which its executor sees.

use std::time::Duration;

use carillon_testkit::wait_for;
use serde_json::json;

use super::load::{Load, every_second};
use crate::program::settings;

const JOBS: usize = 5;
/// A node that is stopped for longer than a second is late with the runs of one second at least.
const STANDSTILL: Duration = Duration::from_millis(1_100);
/// The difference that is allowed. A machine under load exceeds it now and then, a wrong figure always.
const TOLERANCE_MS: f64 = 5.0;

/// What the node reports, and what its executor has seen of the same runs.
struct Figures {
    sum_ms: f64,
    /// Upper bound, and the runs up to it.
    buckets: Vec<(f64, usize)>,
    seen_ms: Vec<f64>,
}

impl Figures {
    /// Waits for a moment at which both count the same runs.
    async fn read(load: &Load) -> Self {
        let mut read = None;
        wait_for("both count the same runs", async || {
            let metrics = load.api.metrics().await;
            let seen_ms = load.receipts().iter().map(|run| (run.received_at - run.due_at) as f64).collect();
            let figures = Self::parse(&metrics, seen_ms);
            let is_same = figures.buckets.last().is_some_and(|(_, count)| *count == figures.seen_ms.len());
            read = is_same.then_some(figures);
            is_same
        })
        .await;
        read.unwrap()
    }

    fn parse(metrics: &str, seen_ms: Vec<f64>) -> Self {
        let lines = metrics.lines().filter_map(|line| line.strip_prefix("carillon_lateness_seconds_"));
        let (mut sum_ms, mut buckets) = (0.0, vec![]);
        for (name, value) in lines.filter_map(|line| line.split_once(' ')) {
            if name == "sum" {
                sum_ms = value.parse::<f64>().unwrap() * 1000.0;
            } else if let Some(bound) = name.strip_prefix("bucket{le=\"") {
                let bound = bound.trim_end_matches("\"}").parse().unwrap_or(f64::INFINITY);
                buckets.push((bound * 1000.0, value.parse().unwrap()));
            }
        }
        Self { sum_ms, buckets, seen_ms }
    }

    /// Whether both figures of the runs since `before` are the same, within the tolerance.
    fn agree_since(&self, before: &Self) -> bool {
        let seen = &self.seen_ms[before.seen_ms.len()..];
        let within = |limit: f64| seen.iter().filter(|late| **late <= limit).count();
        let buckets = self.buckets.iter().zip(&before.buckets).map(|(now, before)| (now.0, now.1 - before.1));
        let agree = buckets.map(|(bound, reported)| {
            // The observer's clock has whole milliseconds.
            assert!(
                reported >= within(bound - 1.0),
                "{reported} sent up to {bound} ms late, received sooner: {seen:?}"
            );
            reported <= within(bound + TOLERANCE_MS)
        });
        let all = agree.collect::<Vec<_>>().into_iter().all(|agree| agree);
        let (reported, observed) = (self.sum_ms - before.sum_ms, seen.iter().sum::<f64>());
        all && (observed - reported).abs() <= TOLERANCE_MS * seen.len() as f64
    }
}

// covers: 000-12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_reported_lateness_is_that_of_an_outside_observer_within_5_ms() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path());
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 1, vec![every_second(&json!({})); JOBS]).await;
    load.until_received(JOBS).await;
    let mut before = Figures::read(&load).await;
    wait_for("both agree on runs that were late", async || {
        node.signal("STOP").await;
        tokio::time::sleep(STANDSTILL).await;
        node.signal("CONT").await;
        load.until_received(before.seen_ms.len() + JOBS).await;
        let now = Figures::read(&load).await;
        let is_late = now.seen_ms[before.seen_ms.len()..].iter().any(|late| *late > 20.0 * TOLERANCE_MS);
        let agree = now.agree_since(&before);
        before = now;
        is_late && agree
    })
    .await;
}
