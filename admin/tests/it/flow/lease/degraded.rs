//! Redis comes and goes: scheduling goes on, says that it is degraded, and heals by itself.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::LeaseReport;
use carillon_scheduler::ManualClock;
use carillon_testkit::RecordingExecutor;

use crate::flow::node::{Node, START};
use crate::locks::servers::RedisServer;
use crate::services::{Kind, TestDatabase, on};

async fn node(db: &TestDatabase, redis: String) -> Node {
    let mut config = db.config();
    config.shards = Some(4);
    config.redis_url = Some(redis);
    config.access_token = "0123456789-of-this-test".into();
    Node::on(config, Arc::new(ManualClock::new(START + 2_400_000_000_000))).await
}

async fn page(node: &Node, path: &str) -> String {
    let answer = reqwest::get(format!("{}/{path}", node.url)).await.unwrap();
    answer.text().await.unwrap()
}

async fn is_degraded(node: &Node, wanted: bool) {
    // A start of Redis takes a moment; the connection is restored in the background.
    for _ in 0..200 {
        node.clock.advance(Duration::from_secs(3));
        node.renew_leases().await;
        if node.engine.is_degraded() == wanted {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(node.engine.is_degraded(), wanted);
    let gauge = format!("carillon_degraded {}", u8::from(wanted));
    assert!(node.metrics().contains(&gauge));
    let ready = page(node, "readyz").await;
    assert!(ready.starts_with("ready"), "{ready}");
    assert_eq!(ready.contains("degraded: Redis does not answer"), wanted, "{ready}");
}

// covers: H4, 003-9
#[test]
fn redis_gone_is_said_and_heals_by_itself() {
    on(Kind::Postgres, async |db| {
        let redis = RedisServer::start(&[]);
        let node = node(db, redis.url()).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(1, |_| ()).await;
        node.round().await;
        node.advance(1_000).await;
        assert_eq!(executor.runs().len(), 1);
        is_degraded(&node, false).await;
        let port = redis.kill();
        // No shard is free: it is noticed when leases are renewed.
        is_degraded(&node, true).await;
        node.register(&executor).await;
        let before = executor.runs().len();
        for _ in 0..30 {
            node.advance(1_000).await;
        }
        assert!(executor.runs().len() >= before + 30, "scheduling goes on");
        assert_eq!(node.engine.shards_held().len(), 4);
        let redis = RedisServer::start_at(port, &[]);
        is_degraded(&node, false).await;
        assert_eq!(redis.cli(&["keys", "carillon:*"]).lines().count(), 4, "its locks are there again");
        let runs = node.runs(&job).await;
        let mut instants: Vec<i64> = runs.iter().map(|run| run.scheduled_at).collect();
        instants.dedup();
        assert_eq!(instants.len(), runs.len(), "each once");
    });
}

// covers: H2
#[test]
fn after_a_flush_two_nodes_may_have_the_lock_and_one_has_the_shard() {
    on(Kind::Postgres, async |db| {
        let redis = RedisServer::start(&[]);
        let a = node(db, redis.url()).await;
        a.round().await;
        assert_eq!(a.engine.shards_held().len(), 4);
        redis.cli(&["flushall"]);
        let b = node(db, redis.url()).await;
        // Fair share wants two of them at once; the database's gate refuses them while a's leases live.
        assert_eq!(b.renew_leases().await, LeaseReport::default());
        for _ in 0..6 {
            for node in [&a, &b] {
                node.clock.advance(Duration::from_secs(1));
                node.round().await;
            }
            let held = [a.engine.shards_held(), b.engine.shards_held()].concat();
            assert!(held.len() <= 4);
        }
        let mut held = [a.engine.shards_held(), b.engine.shards_held()].concat();
        held.sort_unstable();
        assert_eq!(held, [0, 1, 2, 3], "handed over in order");
    });
}

// covers: H3
#[test]
fn with_two_redis_each_node_has_its_locks_and_each_shard_one_holder() {
    on(Kind::Postgres, async |db| {
        let (one, other) = (RedisServer::start(&[]), RedisServer::start(&[]));
        let (a, b) = (node(db, one.url()).await, node(db, other.url()).await);
        let executor = RecordingExecutor::start().await;
        a.register(&executor).await;
        let job = a.every(1, |_| ()).await;
        for _ in 0..8 {
            for node in [&a, &b] {
                node.clock.advance(Duration::from_secs(1));
                node.round().await;
            }
            let (of_a, of_b) = (a.engine.shards_held(), b.engine.shards_held());
            assert!(of_a.iter().all(|shard| !of_b.contains(shard)), "{of_a:?} {of_b:?}");
        }
        assert_eq!((a.engine.shards_held().len(), b.engine.shards_held().len()), (2, 2));
        let runs = a.runs(&job).await;
        assert!(runs.len() > 8);
        assert_eq!(executor.runs().len(), 8, "each due one once");
    });
}
