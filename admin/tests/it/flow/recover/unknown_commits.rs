//! The answer to a write is lost: what was committed is found in the table, and nothing is written twice.

use std::sync::Arc;

use carillon_admin::config::Database;
use carillon_scheduler::{ManualClock, RunState};
use carillon_store::db::ids;
use carillon_testkit::RecordingExecutor;

use crate::flow::node::{Node, START};
use crate::flow::recover::cut_wire::Wire;
use crate::services::{Kind, TestDatabase, on};

/// A node whose wire to its database can be cut.
pub async fn on_a_wire(db: &TestDatabase) -> (Node, Wire) {
    let mut url: url::Url = db.url().unwrap().parse().unwrap();
    let server = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    let wire = Wire::to(server).await;
    url.set_port(Some(wire.address.port())).unwrap();
    // Unencrypted, or the wire could not read along.
    let off = if url.scheme() == "postgres" { "sslmode=disable" } else { "ssl-mode=DISABLED" };
    url.set_query(Some(off));
    let mut config = db.config();
    config.shards = Some(1);
    config.database = Database::parse(url.as_str()).unwrap();
    let clock = Arc::new(ManualClock::new(START + 2_400_000_000_000));
    (Node::on(config, clock).await, wire)
}

async fn lost_claim(db: &TestDatabase) {
    let (node, wire) = on_a_wire(db).await;
    let executor = RecordingExecutor::start().await;
    node.register(&executor).await;
    node.round().await;
    let job = node.every(1, |_| {}).await;
    // Ids come from a transaction of their own.
    node.store.take_id(&ids::RUN).await.unwrap();
    wire.cut_after("COMMIT", 0);
    node.scan().await;
    assert_eq!(wire.cuts(), 1);
    let recorded = node.runs(&job).await.len();
    assert_eq!(recorded, 5, "committed, though nobody heard of it");
    for _ in 0..8 {
        node.advance(1_000).await;
    }
    let runs = node.runs(&job).await;
    let sent: Vec<i64> = executor.runs().iter().map(|run| run.run_id()).collect();
    let due: Vec<i64> = runs.iter().filter(|run| run.state == RunState::Running).map(|run| run.id).collect();
    assert_eq!(sent.len(), 8, "each once, at its second");
    assert_eq!(sent, due);
    assert!(node.misfires(&job).await.is_empty());
}

async fn lost_mark(db: &TestDatabase) {
    let (node, wire) = on_a_wire(db).await;
    let executor = RecordingExecutor::start().await;
    node.register(&executor).await;
    node.round().await;
    let job = node.every(10, |_| {}).await;
    node.advance(9_000).await;
    node.advance(700).await;
    assert_eq!(node.states(&job).await.first(), Some(&RunState::Claimed));
    node.clock.advance(std::time::Duration::from_millis(300));
    // It is prepared by one request, and executed by the next.
    wire.cut_after("mark_token = ", 1);
    node.dispatch().await;
    assert_eq!(wire.cuts(), 1);
    node.drain().await;
    for _ in 0..4 {
        node.advance(1_000).await;
    }
    assert_eq!(executor.runs().len(), 1);
    let run = &node.runs(&job).await[0];
    assert_eq!((run.state, run.sends), (RunState::Running, 1));
}

// covers: H5, 000-6
#[test]
fn a_claim_whose_commit_was_not_heard_of_is_found_again_on_postgres() {
    on(Kind::Postgres, lost_claim);
}

// covers: H5, 000-6
#[test]
fn a_claim_whose_commit_was_not_heard_of_is_found_again_on_mariadb() {
    on(Kind::Mariadb, lost_claim);
}

// covers: H6
#[test]
fn a_mark_that_was_not_heard_of_is_sent_once_on_postgres() {
    on(Kind::Postgres, lost_mark);
}

// covers: H6
#[test]
fn a_mark_that_was_not_heard_of_is_sent_once_on_mariadb() {
    on(Kind::Mariadb, lost_mark);
}
