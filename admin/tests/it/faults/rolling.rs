//! All nodes are restarted one after the other, under load: nothing is lost or doubled, and hardly anything is late.

use std::time::Duration;

use carillon_testkit::{ProgramSettings, wait_for};
use serde_json::json;

use super::ledger::{
    assert_acknowledged_results_are_there, assert_each_instant_is_recorded_once, assert_receipts_and_runs_agree,
    by_state,
};
use super::load::{Load, every_second};
use crate::cli::zones::other_data;
use crate::program::{carillon, ended, settings};
use crate::services::{Kind, TestDatabase, on, redis_url};

const JOBS: usize = 60;
const ENDS_WITHIN: Duration = Duration::from_secs(15);

/// Ends the load and checks the books; tells how late requests left.
async fn books(load: &Load) {
    let until = load.api.disable(&load.jobs).await;
    let runs = load.api.runs_at_the_end(Duration::from_secs(60)).await;
    let misfires = load.api.misfires().await;
    assert!(misfires.is_empty(), "nothing was late by a minute");
    assert_each_instant_is_recorded_once(&load.jobs, &runs, &misfires, until);
    assert_receipts_and_runs_agree(&runs, &load.receipts());
    assert_acknowledged_results_are_there(&runs, &load.executors);
    let late = |run: &super::api::Run| Some(run.sent_at?.timestamp_millis() - run.scheduled_at.timestamp_millis());
    let mut late: Vec<i64> = runs.iter().filter(|run| run.attempt == 1).filter_map(late).collect();
    late.sort_unstable();
    let at = |share: usize| late[(late.len() * share / 1000).min(late.len() - 1)];
    eprintln!(
        "{:?}; late by ms: p50 {} p99 {} p99.9 {} max {}",
        by_state(&runs),
        at(500),
        at(990),
        at(999),
        late[late.len() - 1]
    );
}

// covers: 003-24
#[test]
fn a_rolling_restart_of_three_nodes_loses_and_doubles_nothing() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let setup = settings(db.folder())
            .arg(format!("--database-url={}", db.url().unwrap()))
            .arg(format!("--redis-url={}", redis_url()));
        let mut setups: Vec<ProgramSettings> =
            (0..3).map(|n| setup.another(&db.folder().join(format!("n{n}")))).collect();
        let mut nodes = vec![];
        for setup in &mut setups {
            nodes.push(setup.start().await);
        }
        let all: Vec<_> = nodes.iter().collect();
        let load = Load::start(&setups[0], &all, 2, vec![every_second(&json!({})); JOBS]).await;
        load.until_received(4 * JOBS).await;
        for number in (0..3).rev() {
            let ended = nodes.remove(number).terminate(ENDS_WITHIN).await;
            assert_eq!(ended.code(), Some(0), "{ended}");
            let before = load.received();
            load.until_received(before + 3 * JOBS).await;
            let node = setups[number].start().await;
            nodes.insert(number, node);
            let before = load.received();
            load.until_received(before + 3 * JOBS).await;
        }
        books(&load).await;
    });
}

// covers: H28, 001-8
#[test]
fn the_command_changes_the_number_of_shards_under_load() {
    on(Kind::Mariadb, async |db: &TestDatabase| {
        let url = format!("--database-url={}", db.url().unwrap());
        let setup = settings(db.folder()).arg(&url);
        let mut setups: Vec<ProgramSettings> =
            (0..2).map(|n| setup.another(&db.folder().join(format!("n{n}")))).collect();
        let mut nodes = vec![];
        for setup in &mut setups {
            nodes.push(setup.start().await);
        }
        let all: Vec<_> = nodes.iter().collect();
        let load = Load::start(&setups[0], &all, 2, vec![every_second(&json!({})); JOBS]).await;
        load.until_received(3 * JOBS).await;
        for count in ["32", "8"] {
            let (code, out, err) = ended(carillon(&["shards", "set", count, &url]));
            assert_eq!(code, Some(0), "{err}");
            assert!(out.starts_with(&format!("{count} shards instead of")), "{out}");
            let before = load.received();
            load.until_received(before + 6 * JOBS).await;
            let (code, out, err) = ended(carillon(&["shards", &url]));
            assert_eq!(code, Some(0), "{err}");
            assert_eq!(out.lines().count(), 1 + count.parse::<usize>().unwrap(), "{out}");
            assert!(!out.contains("nobody"), "{out}");
        }
        let (code, _, err) = ended(carillon(&["shards", "set", "0", &url]));
        assert_eq!((code, err.contains("from 1 to 1024")), (Some(2), true), "{err}");
        let mut stranger = setups[0].another(&db.folder().join("n9")).arg("--shards=32").command();
        stranger.env("CARILLON_LISTEN", "127.0.0.1:0");
        let (code, _, err) = ended(stranger);
        assert_eq!(code, Some(2), "{err}");
        assert!(
            err.contains("--shards 32 (CARILLON_SHARDS) differs from the 8 shards of this database; drop the flag"),
            "{err}"
        );
        books(&load).await;
    });
}

/// They do not agree on when nine o'clock is in Vancouver.
// covers: H28
#[test]
fn nodes_with_different_time_zones_record_and_send_each_instant_once() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let setup = settings(db.folder()).arg(format!("--database-url={}", db.url().unwrap()));
        let zones = other_data();
        let of_node = |number: usize| setup.another(&db.folder().join(format!("n{number}")));
        let (mut usual, mut other) = (of_node(0), of_node(1).env("CARILLON_ZONEINFO", zones.path()));
        let (usual, other) = (usual.start().await, other.start().await);
        let in_vancouver =
            |expression: &str| json!({"kind": "cron", "expression": expression, "timezone": "America/Vancouver"});
        let mut nine = vec![];
        for node in [&usual, &other] {
            let preview = node.api().post("preview", json!({"schedule": in_vancouver("0 0 9 1 1 ?")})).await.ok();
            nine.push(preview["items"][0].clone());
        }
        assert!(nine[0].is_string() && nine[1].is_string() && nine[0] != nine[1], "{nine:?}");

        let drafts = vec![every_second(&json!({"schedule": in_vancouver("* * * * * ?")})); JOBS];
        let load = Load::start(&setup, &[&usual, &other], 2, drafts).await;
        for node in [&usual, &other] {
            let api = node.api();
            wait_for("a node has shards, and knows that the other one differs", async || {
                api.metric("carillon_shards_held").await > 0.0 && api.metric("carillon_version_skew").await == 1.0
            })
            .await;
        }
        let before = load.received();
        load.until_received(before + 8 * JOBS).await;
        books(&load).await;
    });
}
