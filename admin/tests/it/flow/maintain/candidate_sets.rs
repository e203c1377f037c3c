//! Sets of executors go with the last run that names them, while nodes use others.

use std::slice::from_ref;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::Clock as _;
use carillon_testkit::RecordingExecutor;
use sea_orm::ConnectionTrait as _;
use serde_json::json;

use crate::flow::node::{Node, START};

const DAY: Duration = Duration::from_secs(86_400);

/// A walk over all runs, which has few here.
async fn walk(node: &Node) {
    for _ in 0..50 {
        if node.services.pruner.step().await.next >= Duration::from_secs(600) {
            return;
        }
    }
    panic!("the walk never ends");
}

/// A run of the job, sent to the only executor of now.
async fn sent(node: &Node, job: &carillon_store::Job, executor: &RecordingExecutor) -> i64 {
    node.register(executor).await;
    let run = node.fire(job).await;
    node.round().await;
    assert_eq!(node.store.runs().get(run).await.unwrap().unwrap().address.as_ref(), Some(&executor.address));
    run
}

databases! {
    async fn sets_that_no_run_names_are_deleted_and_all_others_stay(db: &TestDatabase) {
        let node = Node::with_shards(db, 2).await;
        let job = node.job(|_| {}).await;
        let database = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let backend = database.get_database_backend();
        let sets = async || {
            let text = sea_orm::Statement::from_string(backend, "SELECT addresses, used_at FROM candidate_set ORDER BY used_at");
            let rows = database.query_all_raw(text).await.unwrap();
            rows.iter().map(|row| (row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap())).collect::<Vec<(String, i64)>>()
        };
        let (first, second) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        let old = sent(&node, &job, &first).await;
        let gone = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": first.address});
        node.post("api/registryRemove", &gone).await;
        let of_first = sets().await;
        assert_eq!(of_first.len(), 1);
        database.execute_unprepared("UPDATE report_cursor SET run_id = 1000000").await.unwrap();
        node.clock.advance(3 * DAY);
        let kept = sent(&node, &job, &second).await;
        walk(&node).await;
        let both = sets().await;
        assert_eq!((both.len(), &both[0]), (2, &of_first[0]), "a run names it");
        // No walk goes beyond what the reports have counted.
        database.execute_unprepared("UPDATE report_cursor SET run_id = 0").await.unwrap();
        walk(&node).await;
        assert_eq!(sets().await, both, "nor does a run that the walk does not reach");
        database.execute_unprepared(&format!("DELETE FROM run WHERE id = {old}")).await.unwrap();
        walk(&node).await;
        assert_eq!(sets().await, both[1..]);
        // A run in two days and more: the node renews the set that it knows, once.
        for _ in 0..2 {
            node.clock.advance(2 * DAY);
            let run = sent(&node, &job, &second).await;
            sent(&node, &job, &second).await;
            assert_eq!(sets().await, [(both[1].0.clone(), node.clock.now())]);
            walk(&node).await;
            let run = node.store.runs().get(run).await.unwrap().unwrap();
            assert_eq!(node.store.runs().route_decision(&run).await.unwrap().unwrap().candidates, from_ref(&second.address));
        }
        // Deleted behind its back it comes with its next renewal.
        database.execute_unprepared("DELETE FROM candidate_set").await.unwrap();
        node.clock.advance(2 * DAY);
        sent(&node, &job, &second).await;
        let run = node.store.runs().get(kept).await.unwrap().unwrap();
        assert_eq!(node.store.runs().route_decision(&run).await.unwrap().unwrap().candidates, from_ref(&second.address));
        assert!(sets().await[0].1 > START);
        database.close().await.unwrap();
    }
}
