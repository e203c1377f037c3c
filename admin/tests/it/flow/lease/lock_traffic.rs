//! What the locks cost, and what their loss costs: little, and nothing.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Clock as _, ManualClock, RunState, ScheduleDraft};
use carillon_testkit::RecordingExecutor;
use sea_orm::ConnectionTrait as _;

use crate::flow::node::{Node, START};
use crate::locks::servers::RedisServer;
use crate::services::{Kind, TestDatabase, on};

const SHARDS: i32 = 8;

async fn node(db: &TestDatabase, redis: &RedisServer) -> Node {
    node_with(db, redis, SHARDS).await
}

async fn node_with(db: &TestDatabase, redis: &RedisServer, shards: i32) -> Node {
    let mut config = db.config();
    config.shards = Some(shards);
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
        for jobs in [1, 1_000] {
            node.create_jobs(jobs, |job| job.schedule = ScheduleDraft::fixed_rate(1)).await;
            cost.push(of_twelve_seconds(&node, &redis).await);
        }
        // Of a job that is not due a scan sees no more than this row: here of a million.
        let far = node.clock.now() + 86_400_000;
        let million = format!(
            "INSERT INTO job_clock (shard, next_fire_at, job_id, revision) \
             SELECT id % {SHARDS}, {far} + id, id, 1 FROM generate_series(1000000, 1999999) AS id"
        );
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        raw.execute_unprepared(&million).await.unwrap();
        cost.push(of_twelve_seconds(&node, &redis).await);
        // Twelve seconds, a renewal each three: 001-6, 003-10.
        assert!(cost.iter().all(|cost| *cost < 12 * i64::from(SHARDS)), "{cost:?}");
        assert!(cost[1..].iter().all(|more| more.abs_diff(cost[0]) <= SHARDS as u64), "{cost:?}");
    });
}

/// Commands for locks while a node renews its leases and scans.
async fn of_twelve_seconds(node: &Node, redis: &RedisServer) -> i64 {
    let before = commands(redis);
    for _ in 0..12 {
        node.clock.advance(Duration::from_secs(1));
        node.renew_leases().await;
        node.scan().await;
    }
    commands(redis) - before
}

// covers: 001-6
#[test]
fn the_commands_for_locks_are_one_for_each_shard_and_renewal() {
    on(Kind::Postgres, async |db| {
        for shards in [2, 8, 32] {
            let redis = RedisServer::start(&[]);
            // Each counts in a database of its own.
            let own = TestDatabase::new(db.kind()).await;
            let node = node_with(&own, &redis, shards).await;
            assert_eq!(node.engine.shards_held().len(), shards as usize);
            let cost = of_twelve_seconds(&node, &redis).await;
            let renewals = cost as f64 / f64::from(shards);
            assert!((3.0..=5.0).contains(&renewals), "{cost} commands for {shards} shards");
        }
    });
}

fn conflicts(node: &Node, lock: &str) -> u64 {
    let metrics = node.metrics();
    let name = format!("carillon_lock_conflicts_total{{lock=\"{lock}\"}} ");
    metrics.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
}

// covers: 004-15
#[test]
fn nodes_that_share_the_shards_do_not_compete_for_them() {
    on(Kind::Postgres, async |db| {
        let redis = RedisServer::start(&[]);
        let (a, b) = (node(db, &redis).await, node(db, &redis).await);
        let seconds = async |count| {
            for _ in 0..count {
                for node in [&a, &b] {
                    node.clock.advance(Duration::from_secs(1));
                    node.round().await;
                }
            }
        };
        seconds(20).await;
        let half = SHARDS as usize / 2;
        assert_eq!([a.engine.shards_held().len(), b.engine.shards_held().len()], [half; 2]);
        // Until the first has handed back its half the second one asks for locks that are taken.
        let all = || [&a, &b].map(|node| ["redis", "database"].map(|lock| conflicts(node, lock)));
        let before = all();
        seconds(20).await;
        assert_eq!(all(), before, "none while the shares stay");

        // Another one has all locks: the leases of the database decide, and the nodes go on.
        redis.cli(&["keys", "carillon:*"]).lines().for_each(|key| drop(redis.cli(&["set", key, "another"])));
        seconds(4).await;
        assert!(conflicts(&a, "redis") > 0 && conflicts(&b, "redis") > 0);
        assert_eq!([conflicts(&a, "database"), conflicts(&b, "database")], [0, 0]);

        // Another one has a lease: the next renewal is refused.
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let shard = a.engine.shards_held()[0];
        let taken = format!("UPDATE shard_lease SET epoch = epoch + 1, owner = 'another' WHERE shard = {shard}");
        raw.execute_unprepared(&taken).await.unwrap();
        a.clock.advance(Duration::from_secs(4));
        a.renew_leases().await;
        assert_eq!(conflicts(&a, "database"), 1);
        assert!(!a.engine.shards_held().contains(&shard));
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
