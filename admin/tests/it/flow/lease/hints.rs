//! A node that brings work to a shard of another one tells it.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::ManualClock;
use carillon_testkit::{RecordingExecutor, wait_for};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::flow::node::{Node, START};
use crate::locks::servers::RedisServer;
use crate::services::{Kind, TestDatabase, on};

async fn node(db: &TestDatabase, redis: Option<&RedisServer>) -> Node {
    let mut config = db.config();
    config.shards = Some(2);
    config.redis_url = redis.map(RedisServer::url);
    config.access_token = "0123456789-of-this-test".into();
    Node::on(config, Arc::new(ManualClock::new(START + 2_400_000_000_000))).await
}

fn counts(node: &Node, line: &str) -> bool {
    node.metrics().lines().any(|other| other == line)
}

#[test]
fn a_run_that_another_node_records_is_scanned_at_once() {
    on(Kind::Postgres, async |db| {
        let redis = RedisServer::start(&[]);
        let (holder, other) = (node(db, Some(&redis)).await, node(db, Some(&redis)).await);
        let executor = RecordingExecutor::start().await;
        while holder.engine.shards_held().len() < 2 {
            holder.clock.advance(Duration::from_secs(1));
            holder.round().await;
        }
        holder.register(&executor).await;
        let job = holder.job(|_| ()).await;
        let (tasks, stop, fatal) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        holder.services.run_scanners(&tasks, &stop, &fatal);
        wait_for("it listens", async || redis.cli(&["pubsub", "channels"]).contains("hints")).await;
        // A scanner that nothing wakes looks each ten seconds; the look at all shards together does not run here.
        other.clock.set(carillon_scheduler::Clock::now(&*holder.clock));
        other.fire(&job).await;
        assert_eq!(other.services.hint_sender.step().await.did, 1);
        wait_for("the holder is told", async || counts(&holder, "carillon_shard_hints_followed_total 1")).await;
        wait_for("the run is sent", async || {
            holder.dispatch().await;
            executor.runs().len() == 1
        })
        .await;
        assert!(counts(&other, "carillon_shard_hints_sent_total 1"), "{}", other.metrics());
        // What it does itself needs no message.
        holder.fire(&job).await;
        assert_eq!(holder.services.hint_sender.step().await.did, 0);
        assert!(counts(&holder, "carillon_shard_hints_sent_total 0"));
        stop.cancel();
        tasks.close();
        tasks.wait().await;
    });
}

#[test]
fn without_redis_nothing_is_gathered() {
    on(Kind::Postgres, async |db| {
        let alone = node(db, None).await;
        let job = alone.job(|_| ()).await;
        alone.fire(&job).await;
        assert_eq!(alone.services.hint_sender.step().await.did, 0);
        assert!(counts(&alone, "carillon_shard_hints_sent_total 0"));
    });
}
