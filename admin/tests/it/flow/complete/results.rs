//! Results that executors report: each counts for a run that was sent, and none waits for another that cannot be stored.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{AlarmKind, ManualClock, RunState};
use carillon_store::Job;
use carillon_store::alarm::alarms::AlarmFilter;
use carillon_testkit::{RecordingExecutor, wait_for};
use sea_orm::{ConnectionTrait as _, DatabaseTransaction, TransactionTrait as _};
use serde_json::{Value, json};

use crate::flow::node::{Node, START};
use crate::flow::recover::unknown_commits::on_a_wire;
use crate::services::{Kind, TestDatabase, on};

use RunState::{Claimed, Failed, Running, Succeeded};

/// A node, its executor, and jobs of which each has a run that runs.
async fn running(db: &TestDatabase, jobs: usize) -> (Node, RecordingExecutor, Vec<Job>, Vec<i64>) {
    let mut config = db.config();
    config.shards = Some(1);
    let node = Node::on(config, Arc::new(ManualClock::new(START + 2_400_000_000_000))).await;
    let executor = RecordingExecutor::start().await;
    node.register(&executor).await;
    node.renew_leases().await;
    let jobs = node.create_jobs(jobs, |_| ()).await;
    let mut runs = vec![];
    for job in &jobs {
        runs.push(node.fire(job).await);
    }
    node.round().await;
    for job in &jobs {
        assert_eq!(node.states(job).await, [Running]);
    }
    (node, executor, jobs, runs)
}

fn result(run_id: i64, code: i32, text: &str) -> Value {
    json!([{"logId": run_id, "logDateTim": 1, "handleCode": code, "handleMsg": text}])
}

/// Sends a callback; true: it was answered.
fn report(node: &Node, body: Value) -> tokio::task::JoinHandle<bool> {
    let call = node
        .http
        .post(format!("{}/api/callback", node.url))
        .header("XXL-JOB-ACCESS-TOKEN", &node.config.access_token)
        .json(&body);
    tokio::spawn(async move { call.send().await.is_ok_and(|answer| answer.status() == 200) })
}

/// A session that somebody has forgotten: it holds the row.
async fn held(db: &TestDatabase, table: &str, id: i64) -> DatabaseTransaction {
    let other = sea_orm::Database::connect(db.direct_url()).await.unwrap();
    let tx = other.begin().await.unwrap();
    let text = format!("SELECT id FROM {table} WHERE id = {id} FOR UPDATE");
    tx.execute_unprepared(&text).await.unwrap();
    tx
}

// covers: V2
#[test]
fn a_result_for_a_run_that_was_never_sent_changes_nothing() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        node.round().await;
        let job = node.every(10, |_| {}).await;
        node.advance(9_000).await;
        assert_eq!(node.states(&job).await, [Claimed]);
        let run_id = node.runs(&job).await[0].id;
        let answer = node.callback(&[(run_id, 200, "never sent")]).await;
        assert_eq!(answer["code"], 200, "as for an unknown run");
        assert_eq!(node.states(&job).await, [Claimed]);
        assert!(node.metrics().contains("carillon_results_unsent_total 1"));
        node.advance(1_000).await;
        assert_eq!(executor.runs().len(), 1, "it is sent all the same");
        node.callback(&[(run_id, 500, "no")]).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.sends), (Failed, 1));
    });
}

async fn beside_a_locked(db: &TestDatabase, table: &str) {
    let (node, _executor, jobs, runs) = running(db, 40).await;
    let id = if table == "job" { jobs[0].id } else { runs[0] };
    let held = held(db, table, id).await;
    let stuck = report(&node, result(runs[0], 500, "of the locked one"));
    wait_for("it waits", async || !node.engine.is_idle_but_accepted()).await;
    let (first, second) = runs[1..].split_at(19);
    let failures: Vec<_> = first.iter().map(|id| report(&node, result(*id, 500, "no"))).collect();
    let successes: Vec<_> = second.iter().map(|id| report(&node, result(*id, 200, ""))).collect();
    let others: Vec<_> = failures.into_iter().chain(successes).collect();
    wait_for("the others are settled", async || {
        node.services.completer.step().await;
        others.iter().all(tokio::task::JoinHandle::is_finished)
    })
    .await;
    for other in others {
        assert!(other.await.unwrap(), "answered within its limit");
    }
    assert_eq!(node.states(&jobs[0]).await, [Running]);
    assert_eq!(node.states(&jobs[1]).await, [Failed]);
    assert_eq!(node.states(&jobs[39]).await, [Succeeded]);
    held.rollback().await.unwrap();
    stuck.abort();
    node.clock.advance(Duration::from_secs(60));
    assert_eq!(node.callback(&[(runs[0], 500, "of the locked one")]).await["code"], 200);
    assert_eq!(node.states(&jobs[0]).await, [Failed]);
}

// covers: F5
#[test]
fn a_locked_job_delays_its_own_results_alone_on_postgres() {
    on(Kind::Postgres, async |db| beside_a_locked(db, "job").await);
}

// covers: F5
#[test]
fn a_locked_job_delays_its_own_results_alone_on_mariadb() {
    on(Kind::Mariadb, async |db| beside_a_locked(db, "job").await);
}

// covers: F5
#[test]
fn a_locked_run_delays_its_own_result_alone_on_postgres() {
    on(Kind::Postgres, async |db| beside_a_locked(db, "run").await);
}

// covers: F5
#[test]
fn a_locked_run_delays_its_own_result_alone_on_mariadb() {
    on(Kind::Mariadb, async |db| beside_a_locked(db, "run").await);
}

// covers: F5, F18
#[test]
fn a_run_that_cannot_be_read_is_told_of_once_and_holds_up_no_other_result() {
    on(Kind::Sqlite, async |db| {
        let (node, _executor, jobs, runs) = running(db, 3).await;
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let text = format!("UPDATE run SET cause = 77 WHERE id = {}", runs[0]);
        raw.execute_unprepared(&text).await.unwrap();
        let stuck = report(&node, result(runs[0], 500, "unreadable"));
        wait_for("it waits", async || !node.engine.is_idle_but_accepted()).await;
        let others = [report(&node, result(runs[1], 500, "no")), report(&node, result(runs[2], 200, ""))];
        wait_for("the others are settled", async || {
            node.services.completer.step().await;
            others.iter().all(tokio::task::JoinHandle::is_finished)
        })
        .await;
        assert_eq!(node.states(&jobs[1]).await, [Failed]);
        assert_eq!(node.states(&jobs[2]).await, [Succeeded]);
        for _ in 0..5 {
            node.services.completer.step().await;
            node.clock.advance(Duration::from_secs(60));
        }
        let stuck_alarms = AlarmFilter { kinds: vec![AlarmKind::Stuck], limit: 10, ..AlarmFilter::default() };
        let alarms = node.store.alarms().list(&stuck_alarms).await.unwrap().items;
        assert_eq!(alarms.len(), 1, "{alarms:?}");
        assert_eq!(alarms[0].alarm.run_id, Some(runs[0]));
        assert!(alarms[0].alarm.text.contains("cause 77"), "{}", alarms[0].alarm.text);
        stuck.abort();
        // Ten minutes after the first try it is answered.
        node.clock.advance(Duration::from_secs(300));
        let answered = report(&node, result(runs[0], 500, "unreadable"));
        wait_for("it is given up", async || {
            node.services.completer.step().await;
            answered.is_finished()
        })
        .await;
        assert!(answered.await.unwrap());
        assert!(!node.metrics().contains("carillon_results_dropped_total 0"), "{}", node.metrics());
        // As soon as it can be read, its result is stored.
        let text = format!("UPDATE run SET cause = 1 WHERE id = {}", runs[0]);
        raw.execute_unprepared(&text).await.unwrap();
        node.clock.advance(Duration::from_secs(600));
        node.callback(&[(runs[0], 500, "readable")]).await;
        assert_eq!(node.states(&jobs[0]).await, [Failed]);
    });
}

/// Round trips of one write of `count` results: half of them are failures that are tried again, half are final.
async fn trips(db: &TestDatabase, count: usize) -> usize {
    let (node, wire) = on_a_wire(db).await;
    let executor = RecordingExecutor::start().await;
    node.register(&executor).await;
    node.renew_leases().await;
    let mut runs = vec![];
    for retries in [0, 1] {
        for job in node.create_jobs(count / 2, |draft| draft.retries = retries).await {
            runs.push(node.fire(&job).await);
        }
    }
    node.round().await;
    let failures: Vec<Value> = runs.iter().map(|id| result(*id, 500, "no")[0].clone()).collect();
    // Ids come from a block, which is filled now and then.
    node.store.take_ids(&carillon_store::db::ids::RUN, 1_000).await.unwrap();
    node.store.take_ids(&carillon_store::db::ids::ROW, 100).await.unwrap();
    let reported = report(&node, json!(failures));
    wait_for("it waits", async || !node.engine.is_idle_but_accepted()).await;
    let before = wire.round_trips();
    node.services.completer.step().await;
    let trips = wire.round_trips() - before;
    assert!(reported.await.unwrap());
    let open = node.store.runs().open_runs(8).await.unwrap();
    assert_eq!(open, [(Claimed, count as i64 / 2)], "the next attempts");
    trips
}

async fn many_failures_cost_no_more_than_few(db: &TestDatabase, other: &TestDatabase) {
    let (few, many) = (trips(db, 10).await, trips(other, 90).await);
    // The statements are prepared by the first write of each connection.
    assert!(many <= few + 8, "{few} round trips for 10 failures, {many} for 90");
}

// covers: F8
#[test]
fn many_failures_cost_no_more_round_trips_than_few_on_postgres() {
    on(Kind::Postgres, async |db| {
        let other = TestDatabase::new(Kind::Postgres).await;
        many_failures_cost_no_more_than_few(db, &other).await;
    });
}

// covers: F8
#[test]
fn many_failures_cost_no_more_round_trips_than_few_on_mariadb() {
    on(Kind::Mariadb, async |db| {
        let other = TestDatabase::new(Kind::Mariadb).await;
        many_failures_cost_no_more_than_few(db, &other).await;
    });
}

#[derive(Clone, Default)]
struct Lines(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

// covers: V11
#[test]
fn what_an_executor_says_cannot_forge_a_line_of_the_log_nor_fill_it() {
    on(Kind::Sqlite, async |db| {
        let (node, _executor, jobs, runs) = running(db, 1).await;
        let lines = Lines::default();
        let kept = lines.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || kept.clone()).finish();
        let text = format!("x\n2026-11-21T10:00:00Z  INFO carillon: ada signed in\n{}", "y".repeat(100_000));
        let reported = report(&node, result(runs[0], 500, &text));
        wait_for("it waits", async || !node.engine.is_idle_but_accepted()).await;
        {
            let _guard = tracing::subscriber::set_default(subscriber);
            node.services.completer.step().await;
        }
        assert!(reported.await.unwrap());
        assert_eq!(node.states(&jobs[0]).await, [Failed]);
        let said = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert!(said.contains("a run failed") && said.contains("alarm"), "{said}");
        assert!(said.lines().all(|line| !line.starts_with("2026-11-21")), "{said}");
        assert!(said.len() < 4_000, "{} bytes", said.len());
    });
}
