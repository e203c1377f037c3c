//! SIGTERM under load: the program ends in time, knows what became of what it sent, and nothing is lost over it.

use std::path::Path;
use std::time::Duration;

use carillon_testkit::{Reply, wait_for};
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::json;

use super::ledger::{
    assert_acknowledged_results_are_there, assert_each_instant_is_recorded_once, assert_receipts_and_runs_agree,
    by_state,
};
use super::load::{Load, every_second};
use crate::program::settings;
use crate::services::{Kind, TestDatabase, on};

/// What is promised.
const ENDS_WITHIN: Duration = Duration::from_secs(15);
const SETTLED_WITHIN: Duration = Duration::from_secs(60);

// covers: 003-24, I7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_under_load_leaves_nothing_in_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path());
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 2, vec![every_second(&json!({})); 200]).await;
    // In the middle of a second's burst.
    load.until_received(3 * 200 + 90).await;
    let ended = node.terminate(ENDS_WITHIN).await;
    assert_eq!(ended.code(), Some(0), "{ended}");
    assert_eq!(rows_in_doubt(folder.path()).await, 0);

    let before = load.received();
    let _node = setup.start().await;
    load.until_received(before + 4 * 200).await;
    let states = assert_nothing_is_lost(&load).await;
    assert!(!states.contains("unknown"), "{states}");
}

// covers: 003-24, I7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_executor_does_not_hold_up_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path());
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 2, vec![every_second(&json!({})); 50]).await;
    load.until_received(2 * 50).await;
    load.executors[0].reply(Reply::Never);
    wait_for("requests hang", async || load.executors[0].unanswered().len() >= 10).await;
    let ended = node.terminate(ENDS_WITHIN).await;
    assert_eq!(ended.code(), Some(0), "{ended}");

    let before = load.received();
    let _node = setup.start().await;
    load.until_received(before + 2 * 50).await;
    assert_nothing_is_lost(&load).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path());
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 1, vec![every_second(&json!({})); 5]).await;
    load.executors[0].reply(Reply::Never);
    wait_for("a request hangs", async || !load.executors[0].unanswered().is_empty()).await;
    node.signal("TERM").await;
    wait_for("it stops", async || !node.log("\"stopping\"").is_empty()).await;
    let ended = node.terminate(ENDS_WITHIN).await;
    assert_eq!(ended.code(), Some(1), "{ended}");
}

/// Two nodes on one database: what the first has recorded and not sent is adopted by the second.
// covers: 003-24, I7
#[test]
fn a_peer_goes_on_where_a_node_stopped() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let url = format!("--database-url={}", db.url().unwrap());
        let mut setup = settings(db.folder()).arg(url);
        let stopping = setup.start().await;
        let mut other = setup.another(&db.folder().join("other"));
        let staying = other.start().await;
        let drafts = vec![every_second(&json!({})); 100];
        let load = Load::start(&setup, &[&staying, &stopping], 2, drafts).await;
        load.until_received(5 * 100 + 40).await;
        let ended = stopping.terminate(ENDS_WITHIN).await;
        assert_eq!(ended.code(), Some(0), "{ended}");
        let before = load.received();
        load.until_received(before + 4 * 100).await;
        let states = assert_nothing_is_lost(&load).await;
        assert!(!states.contains("unknown"), "{states}");
    });
}

/// Ends the load and checks the books. Answers how many runs there are in each state.
async fn assert_nothing_is_lost(load: &Load) -> String {
    let until = load.api.disable(&load.jobs).await;
    let runs = load.api.runs_at_the_end(SETTLED_WITHIN).await;
    let misfires = load.api.misfires().await;
    assert!(misfires.is_empty(), "nothing was late by a minute");
    assert_each_instant_is_recorded_once(&load.jobs, &runs, &misfires, until);
    assert_receipts_and_runs_agree(&runs, &load.receipts());
    assert_acknowledged_results_are_there(&runs, &load.executors);
    let states = format!("{:?}", by_state(&runs));
    eprintln!("{states}");
    states
}

/// Rows of which a stopped node left open whether they were sent.
async fn rows_in_doubt(folder: &Path) -> i64 {
    let url = format!("sqlite://{}?mode=rw", folder.join("carillon.db").display());
    let connection = sea_orm::Database::connect(url).await.unwrap();
    let text = "SELECT COUNT(*) FROM run WHERE state = 1";
    let statement = Statement::from_string(connection.get_database_backend(), text);
    let row = connection.query_one_raw(statement).await.unwrap().unwrap();
    connection.close().await.unwrap();
    row.try_get_by_index(0).unwrap()
}
