//! The order in which a node stops: what it has taken on is finished before the part that finishes it ends.

use std::sync::Arc;

use carillon_admin::Admin;
use carillon_engine::manage::RunRequest;
use carillon_scheduler::{Cause, Clock as _, JobDraft, RunState, SystemClock};
use carillon_store::Definition;
use carillon_testkit::{RecordingExecutor, wait_for};
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};
use serde_json::json;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::conformance::fixture::actor;
use crate::services::{Kind, TestDatabase, on};

/// The run's row is locked while the callback waits, so the node cannot finish. It must refuse new connections by then: if it
/// accepted them until results are no longer stored, a callback could come in between and would be answered by no part.
async fn a_stopping_node_refuses_connections_before_it_stops_storing_results(db: &TestDatabase) {
    let mut config = db.config();
    config.shards = Some(1);
    let token = config.access_token.clone();
    let clock = Arc::new(SystemClock::new());
    let admin = Admin::build(config, clock.clone()).await.unwrap();
    let (address, store, engine) = (admin.address(), admin.store.clone(), admin.engine.clone());
    let app = store.apps().create("orders", "Orders", clock.now(), &actor()).await.unwrap();
    let draft = JobDraft::new("orders", "job", "handle");
    let definition = Definition::check(&app, &draft, clock.now()).unwrap();
    let made = store.jobs().create(vec![definition], clock.now(), &actor(), None).await;
    let job_id = made.unwrap()[0].id;
    let executor = RecordingExecutor::start().await;
    let http = reqwest::Client::new();
    let post = |path: &str, body: serde_json::Value| {
        let call = http.post(format!("http://{address}/api/{path}")).header("XXL-JOB-ACCESS-TOKEN", &token);
        tokio::spawn(call.json(&body).send())
    };

    let (stop, sent) = (CancellationToken::new(), CancellationToken::new());
    let locked = CancellationToken::new();
    let node = tokio::spawn(admin.run_with_executors(stop.clone(), {
        let (sent, locked) = (sent.clone(), locked.clone());
        async move {
            sent.cancel();
            locked.cancelled().await;
        }
    }));
    let body = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": executor.address});
    assert_eq!(post("registry", body).await.unwrap().unwrap().status(), 200);
    let ask = RunRequest {
        parts: None,
        job_id,
        cause: Cause::Manual,
        params: None,
        priority: None,
        address: None,
        idempotency_key: None,
    };
    let run_id = engine.jobs().run(ask, &carillon_store::Actor::engine()).await.unwrap();
    let state = async || store.runs().get(run_id).await.unwrap().unwrap().state;
    wait_for("the run runs", async || state().await == RunState::Running).await;

    stop.cancel();
    sent.cancelled().await;
    let other = sea_orm::Database::connect(db.direct_url()).await.unwrap();
    let lock = other.begin().await.unwrap();
    let text = format!("SELECT id FROM run WHERE id = {run_id} FOR UPDATE");
    lock.execute_unprepared(&text).await.unwrap();
    let callback = post("callback", json!([{"logId": run_id, "logDateTim": 1, "handleCode": 200, "handleMsg": ""}]));
    wait_for("the callback waits for the row", async || !engine.is_idle_but_accepted()).await;
    locked.cancel();
    wait_for("new connections are refused", async || TcpStream::connect(address).await.is_err()).await;
    assert!(!callback.is_finished(), "the result was not stored yet");
    lock.rollback().await.unwrap();
    assert_eq!(callback.await.unwrap().unwrap().status(), 200);
    assert_eq!(state().await, RunState::Succeeded);
    node.await.unwrap().unwrap();
}

// covers: F16
#[test]
fn a_stopping_node_refuses_connections_before_it_stops_storing_results_on_postgres() {
    on(Kind::Postgres, a_stopping_node_refuses_connections_before_it_stops_storing_results);
}

// covers: F16
#[test]
fn a_stopping_node_refuses_connections_before_it_stops_storing_results_on_mariadb() {
    on(Kind::Mariadb, a_stopping_node_refuses_connections_before_it_stops_storing_results);
}
