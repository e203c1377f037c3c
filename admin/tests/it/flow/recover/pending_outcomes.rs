//! What this process knows of a run and the database does not yet: the resolver asks nothing about it, however long the write
//! takes.

use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::RunState;
use carillon_testkit::{RecordingExecutor, Reply, wait_for};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement, TransactionTrait as _};
use serde_json::json;

use crate::flow::node::Node;
use crate::flow::recover::unknown_commits::on_a_wire;
use crate::services::{Kind, TestDatabase, on};

/// A run that is due, on a node that holds its shard, and an executor whose log shows nothing.
async fn due_run(node: &Node, executor: &RecordingExecutor) -> (carillon_store::Job, i64) {
    executor.reply_to("/log", Reply::Status(404));
    node.register(executor).await;
    node.round().await;
    let job = node.job(|_| ()).await;
    let run_id = node.fire(&job).await;
    node.scan().await;
    (job, run_id)
}

/// The time after which a run is asked about is over.
async fn another_session(db: &TestDatabase) -> DatabaseConnection {
    sea_orm::Database::connect(db.direct_url()).await.unwrap()
}

async fn sessions_that_wait_for_a_lock(session: &DatabaseConnection) -> i64 {
    let text = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let statement = Statement::from_string(session.get_database_backend(), text);
    let row = session.query_one_raw(statement).await.unwrap().unwrap();
    row.try_get_by_index(0).unwrap()
}

// covers: F19
#[test]
fn an_accepted_run_is_not_asked_about_while_it_is_written() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let (node, _wire) = on_a_wire(db).await;
        let executor = RecordingExecutor::start().await;
        let (job, run_id) = due_run(&node, &executor).await;
        node.dispatch().await;
        wait_for("the request has ended", async || executor.runs().len() == 1 && node.engine.is_idle_but_accepted())
            .await;
        let (session, looking) = (another_session(db).await, another_session(db).await);
        let lock = session.begin().await.unwrap();
        let text = format!("SELECT id FROM run WHERE id = {run_id} FOR UPDATE");
        lock.execute_unprepared(&text).await.unwrap();
        node.clock.advance(Duration::from_millis(200));
        let complete = node.services.completer.clone();
        let writing = tokio::spawn(async move { complete.step().await });
        wait_for("the write waits for the lock", async || sessions_that_wait_for_a_lock(&looking).await == 1).await;
        node.resolve_later().await;
        lock.rollback().await.unwrap();
        writing.await.unwrap();
        node.drain().await;
        assert_eq!(executor.received("/log").len(), 0, "nothing is asked");
        assert_eq!(node.states(&job).await, [RunState::Running]);
    });
}

// covers: F19
#[test]
fn a_run_that_was_certainly_not_sent_is_not_asked_about_before_it_is_given_back() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let (node, _wire) = on_a_wire(db).await;
        let executor = RecordingExecutor::start().await;
        let (job, run_id) = due_run(&node, &executor).await;
        let session = another_session(db).await;
        // What a fire gave cannot be read after the mark: nothing is sent.
        let rename = async |from: &str, to: &str| {
            let text = format!("ALTER TABLE {from} RENAME TO {to}");
            session.execute_unprepared(&text).await.unwrap();
        };
        rename("run_input", "run_input_away").await;
        node.dispatch().await;
        rename("run_input_away", "run_input").await;
        assert_eq!(node.states(&job).await, [RunState::Sending]);
        assert!(executor.runs().is_empty());
        let lock = session.begin().await.unwrap();
        let text = format!("SELECT id FROM run WHERE id = {run_id} FOR UPDATE");
        lock.execute_unprepared(&text).await.unwrap();
        node.services.unmarker.step().await;
        node.resolve_later().await;
        lock.rollback().await.unwrap();
        node.drain().await;
        assert_eq!(executor.received("/log").len(), 0, "nothing is asked");
        assert_eq!(node.states(&job).await, [RunState::Claimed]);
        node.advance(1_000).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.sends), (RunState::Running, 1));
        assert_eq!(executor.runs().len(), 1);
    });
}

// covers: F19
#[test]
fn a_run_whose_result_waits_to_be_written_is_not_asked_about() {
    on(Kind::Sqlite, async |_| {
        let (node, executor) = (Node::start().await, RecordingExecutor::start().await);
        executor.reply(Reply::Status(502));
        let (job, run_id) = due_run(&node, &executor).await;
        node.dispatch().await;
        wait_for("the request has ended", async || executor.runs().len() == 1 && node.engine.is_idle_but_accepted())
            .await;
        let body = json!([{"logId": run_id, "logDateTim": 1, "handleCode": 200, "handleMsg": "done"}]);
        let written = async {
            wait_for("the result waits", async || !node.engine.is_idle_but_accepted()).await;
            node.resolve_later().await;
            node.drain().await;
        };
        let (answer, ()) = tokio::join!(node.post("api/callback", &body), written);
        assert_eq!(answer["code"], 200);
        assert_eq!(executor.received("/log").len(), 0, "nothing is asked");
        assert_eq!(node.states(&job).await, [RunState::Succeeded]);
    });
}
