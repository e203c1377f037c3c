//! What the locks cost, and what their loss costs: little, and nothing.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{ManualClock, RunState};
use carillon_testkit::RecordingExecutor;

use crate::flow::node::{Node, START};
use crate::locks::servers::RedisServer;
use crate::services::{Kind, TestDatabase, on};

const SHARDS: i32 = 8;

async fn node(db: &TestDatabase, redis: &RedisServer) -> Node {
    let mut config = db.config();
    config.shards = Some(SHARDS);
    config.redis_url = Some(redis.url());
    let clock = Arc::new(ManualClock::new(START + 2_400_000_000_000));
    let node = Node::on(config, clock).await;
    node.round().await;
    node
}

/// Commands that a Redis has run, as far as locks are concerned.
fn commands(redis: &RedisServer) -> i64 {
    let text = redis.cli(&["info", "commandstats"]);
    let calls = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(&format!("cmdstat_{name}:")))?;
        let calls = line.split_once("calls=")?.1.split(',').next()?;
        calls.parse::<i64>().ok()
    };
    ["set", "evalsha", "eval"].iter().filter_map(|name| calls(name)).sum()
}

// covers: 001-17, 001-6, 003-10
#[test]
fn locks_are_held_for_many_scans_whatever_the_number_of_jobs() {
    on(Kind::Postgres, async |db| {
        let redis = RedisServer::start(&[]);
        let node = node(db, &redis).await;
        let mut cost = vec![];
        for jobs in [1, 200] {
            for _ in 0..jobs {
                node.every(1, |_| ()).await;
            }
            let before = commands(&redis);
            for _ in 0..12 {
                node.clock.advance(Duration::from_secs(1));
                node.round().await;
            }
            cost.push(commands(&redis) - before);
        }
        // Twelve seconds, a renewal each three: 001-6, 003-10.
        let a_second = cost[1] as f64 / 12.0;
        assert!(a_second < f64::from(SHARDS), "{cost:?}");
        assert!(cost[0].abs_diff(cost[1]) <= SHARDS as u64, "{cost:?}");
    });
}

// covers: 001-3, 001-12, 6.15
#[test]
fn keys_that_vanish_from_redis_lose_nothing() {
    on(Kind::Postgres, async |db| {
        let redis = RedisServer::start(&[]);
        let node = node(db, &redis).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(1, |_| ()).await;
        for second in 0..12 {
            let keys = redis.cli(&["keys", "carillon:*"]);
            let some = keys.lines().skip(second % 3).step_by(2);
            some.for_each(|key| drop(redis.cli(&["del", key])));
            node.advance(1_000).await;
        }
        assert_eq!(executor.runs().len(), 12);
        let runs = node.runs(&job).await;
        assert_eq!(runs.iter().filter(|run| run.state == RunState::Running).count(), 12);
        assert_eq!(node.engine.shards_held().len(), SHARDS as usize);
        assert!(!node.engine.is_degraded());
    });
}
