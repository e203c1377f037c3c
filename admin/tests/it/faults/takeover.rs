//! One of three nodes is killed, another is frozen for longer than its lease: the others go on where they stood.

use std::time::Duration;

use carillon_scheduler::Millis;
use carillon_testkit::{Program, now_ms};
use serde_json::json;

use super::api::Run;
use super::ledger::{
    assert_acknowledged_results_are_there, assert_each_instant_is_recorded_once, assert_receipts_and_runs_agree,
    by_state,
};
use super::load::{Load, every_second};
use crate::program::settings;
use crate::services::{Kind, TestDatabase, on, redis_url};

const JOBS: usize = 60;
/// Of a lease, in these tests.
const TTL: Duration = Duration::from_secs(4);

async fn cluster(db: &TestDatabase) -> (Vec<Program>, Load) {
    let setup = settings(db.folder())
        .arg(format!("--database-url={}", db.url().unwrap()))
        .arg(format!("--redis-url={}", redis_url()))
        .arg(format!("--lease-ttl={}s", TTL.as_secs()));
    let mut nodes = vec![];
    for number in 0..3 {
        let mut other = setup.another(&db.folder().join(format!("n{number}")));
        nodes.push(other.start().await);
    }
    let all: Vec<_> = nodes.iter().collect();
    let load = Load::start(&setup, &all, 2, vec![every_second(&json!({})); JOBS]).await;
    load.until_received(6 * JOBS).await;
    (nodes, load)
}

/// The books are right; how late the latest instant of `from..` left, in ms.
async fn latest(load: &Load, from: Millis) -> Millis {
    let until = load.api.disable(&load.jobs).await;
    let runs = load.api.runs_at_the_end(Duration::from_secs(60)).await;
    let misfires = load.api.misfires().await;
    assert!(misfires.is_empty(), "nothing was late by a minute");
    assert_each_instant_is_recorded_once(&load.jobs, &runs, &misfires, until);
    assert_receipts_and_runs_agree(&runs, &load.receipts());
    assert_acknowledged_results_are_there(&runs, &load.executors);
    let late = |run: &Run| Some((run.sent_at? - run.scheduled_at).num_milliseconds());
    let after = runs.iter().filter(|run| run.attempt == 1 && run.scheduled_at.timestamp_millis() >= from);
    let latest = after.filter_map(late).max().unwrap();
    eprintln!("{:?}; at most {latest} ms late", by_state(&runs));
    latest
}

// covers: 000-15, I3
#[test]
fn a_killed_nodes_shards_are_taken_over_and_nothing_is_lost_or_doubled() {
    on(Kind::Mariadb, async |db| {
        let (mut nodes, load) = cluster(db).await;
        let killed_at = now_ms();
        nodes.remove(1).kill().await;
        let before = load.received();
        load.until_received(before + 12 * JOBS).await;
        let late = latest(&load, killed_at - 1_000).await;
        // TTL + 3 s is promised; a debug build on a busy machine gets as much again.
        assert!(late < 2 * (TTL.as_millis() as i64 + 3_000), "{late}");
        drop(nodes);
    });
}

// covers: H1, I5
#[test]
fn a_node_frozen_for_longer_than_its_lease_writes_nothing_when_it_wakes() {
    on(Kind::Postgres, async |db| {
        let (nodes, load) = cluster(db).await;
        nodes[2].signal("STOP").await;
        let before = load.received();
        load.until_received(before + 10 * JOBS).await;
        nodes[2].signal("CONT").await;
        let before = load.received();
        load.until_received(before + 6 * JOBS).await;
        let said = |text: &str| !nodes[2].log(text).is_empty();
        assert!(said("fenced") || said("stepping down"), "it noticed");
        latest(&load, 0).await;
    });
}
