//! `kill -9` in the middle of the work, and a start on what is left.

use std::time::Duration;

use carillon_scheduler::Millis;
use carillon_testkit::now_ms;
use serde_json::{Value, json};

use super::api::{Job, Misfire, Run};
use super::ledger::{
    assert_acknowledged_results_are_there, assert_each_instant_is_recorded_once, assert_receipts_and_runs_agree,
    by_state,
};
use super::load::{Load, every_second};
use crate::program::settings;

const DOWN: Duration = Duration::from_secs(5);
/// Of a lease, by default.
const TTL: Millis = 10_000;

/// 140 jobs that run every late instant, 30 that run the latest, 30 that skip what is more than two seconds late.
fn drafts() -> Vec<Value> {
    let all = json!({"catch_up": "all"});
    let latest = json!({"catch_up": "latest"});
    let skip = json!({"catch_up": "all", "misfire": "skip", "misfire_threshold_seconds": 2});
    let kinds = [(all, 140), (latest, 30), (skip, 30)];
    kinds.iter().flat_map(|(change, count)| vec![every_second(change); *count]).collect()
}

// covers: 001-18, 001-30, I1, I2, I4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_node_loses_nothing_and_sends_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    // A shorter look-ahead than the time it is down for: some instants are not recorded when it comes back.
    let mut setup = settings(folder.path()).arg("--look-ahead=2s");
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 2, drafts()).await;
    // In the middle of the fifth second's burst: requests and callbacks are under way.
    load.until_received(4 * 200 + 90).await;
    node.kill().await;
    let before = load.received();
    tokio::time::sleep(DOWN).await;
    let node = setup.start().await;
    let back_at = now_ms();
    load.until_received(before + 7 * 200).await;
    let until = load.api.disable(&load.jobs).await;
    let runs = load.api.runs_at_the_end(Duration::from_secs(60)).await;
    let misfires = load.api.misfires().await;
    eprintln!("{:?}, {} misfire ranges", by_state(&runs), misfires.len());

    assert_each_instant_is_recorded_once(&load.jobs, &runs, &misfires, until);
    assert_receipts_and_runs_agree(&runs, &load.receipts());
    assert_acknowledged_results_are_there(&runs, &load.executors);
    assert_policies(&load.jobs, &misfires);
    assert_caught_up(&runs, back_at);
    // 002-34: no executor was declared dead because the node was dead.
    assert!(runs.iter().all(|run| run.state != "lost"));
    drop(node);
}

/// Down for five seconds, of which at most two were recorded ahead: each job's policy had something to decide.
fn assert_policies(jobs: &[Job], misfires: &[Misfire]) {
    for job in jobs {
        let ranges = misfires.iter().filter(|range| range.job_id == job.id);
        let reasons: Vec<&str> = ranges.map(|range| &*range.reason).collect();
        match (&*job.catch_up, &*job.misfire) {
            (_, "skip") => assert!(reasons.contains(&"misfire"), "{job:?}: {reasons:?}"),
            ("latest", _) => assert!(reasons.contains(&"coalesced"), "{job:?}: {reasons:?}"),
            _ => assert!(reasons.is_empty(), "{job:?}: {reasons:?}"),
        }
    }
}

/// What was recorded or became due meanwhile was sent before the last of what became due within the time of a lease. On a busy
/// machine both are late.
fn assert_caught_up(runs: &[Run], back_at: Millis) {
    let sent_at = |run: &Run| run.sent_at.map(|at| at.timestamp_millis());
    let after = |run: &Run| run.scheduled_at.timestamp_millis() - back_at;
    let of_the_lease = runs.iter().filter(|run| (0..TTL).contains(&after(run)));
    let last = of_the_lease.filter_map(sent_at).max();
    for run in runs.iter().filter(|run| after(run) < 0) {
        assert!(sent_at(run) <= last, "{last:?}: {run:?}");
    }
}
