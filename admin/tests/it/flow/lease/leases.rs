//! Shards: a holder works under its epoch, and one that has lost it writes nothing.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{ManualClock, RunState};
use carillon_testkit::RecordingExecutor;
use sea_orm::ConnectionTrait as _;

use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on, redis_url};

/// Two nodes on one database. Their clocks stand in the year 2100; leases end by the server's own.
async fn pair(db: &TestDatabase, redis: bool) -> (Node, Node) {
    let start = START + 2_400_000_000_000;
    let node = async || {
        let mut config = db.config();
        config.shards = Some(4);
        config.redis_url = redis.then(redis_url);
        config.access_token = "0123456789-of-this-test".into();
        Node::on(config, Arc::new(ManualClock::new(start))).await
    };
    let first = node().await;
    (first, node().await)
}

/// Lets the server's clock go on, as far as leases can tell.
pub async fn database_goes_on(db: &sea_orm::DatabaseConnection, ms: i64) {
    let text = format!("UPDATE shard_lease SET expires_at = expires_at - {ms} WHERE expires_at > {ms}");
    db.execute_unprepared(&text).await.unwrap();
}

async fn both(a: &Node, b: &Node, ms: u64) {
    a.clock.advance(Duration::from_millis(ms));
    b.clock.advance(Duration::from_millis(ms));
    a.round().await;
    b.round().await;
}

async fn share_out(a: &Node, b: &Node) {
    for _ in 0..6 {
        both(a, b, 1_000).await;
    }
}

// covers: 001-42, 004-11
#[test]
fn two_nodes_share_the_shards_evenly() {
    on(Kind::Postgres, async |db| {
        let (a, b) = pair(db, true).await;
        a.round().await;
        assert_eq!(a.engine.shards_held().len(), 4, "alone it takes them all");
        share_out(&a, &b).await;
        assert_eq!((a.engine.shards_held().len(), b.engine.shards_held().len()), (2, 2));
        let mut all = [a.engine.shards_held(), b.engine.shards_held()].concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    });
}

// covers: 001-19, 001-43
#[test]
fn a_dead_nodes_shards_are_taken_when_their_leases_are_over() {
    on(Kind::Mariadb, async |db| {
        let (a, b) = pair(db, false).await;
        share_out(&a, &b).await;
        // `a` is never heard of again.
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        for _ in 0..13 {
            b.clock.advance(Duration::from_secs(1));
            database_goes_on(&raw, 1_000).await;
            b.round().await;
        }
        assert_eq!(b.engine.shards_held(), [0, 1, 2, 3], "within TTL + 3 s");
    });
}

// covers: 003-11, I5
#[test]
fn a_paused_holder_is_refused_when_it_comes_back() {
    on(Kind::Postgres, async |db| {
        let (a, b) = pair(db, false).await;
        let executor = RecordingExecutor::start().await;
        a.round().await;
        let held = a.engine.shards_held();
        assert_eq!(held.len(), 4);
        let job = a.every(1, |_| ()).await;
        // `a` is stopped; `b` goes on and takes its shards over.
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        for _ in 0..14 {
            b.clock.advance(Duration::from_secs(1));
            database_goes_on(&raw, 1_000).await;
            b.round().await;
        }
        b.register(&executor).await;
        b.round().await;
        let recorded = b.runs(&job).await.len();
        assert!(recorded > 0);
        // Its own clock stood too, so it still trusts its lease: only the epoch refuses it.
        a.clock.advance(Duration::from_secs(8));
        a.scan().await;
        assert_eq!(b.runs(&job).await.len(), recorded, "it has recorded nothing");
        a.renew_leases().await;
        assert!(a.engine.shards_held().iter().all(|shard| !b.engine.shards_held().contains(shard)));
    });
}

/// There: a ping that took longer than a second was enough to usurp a node.
// covers: 6.9
#[test]
fn a_node_that_nobody_can_see_keeps_its_shards_until_its_lease_is_over() {
    on(Kind::Postgres, async |db| {
        let (a, b) = pair(db, false).await;
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        // Each finds itself the only one.
        let second_of = async |node: &Node| {
            raw.execute_unprepared("DELETE FROM node").await.unwrap();
            node.clock.advance(Duration::from_secs(1));
            node.round().await;
        };
        second_of(&a).await;
        let job = a.every(1, |_| ()).await;
        for _ in 0..15 {
            database_goes_on(&raw, 1_000).await;
            second_of(&a).await;
            second_of(&b).await;
            assert_eq!(a.engine.shards_held(), [0, 1, 2, 3]);
            assert!(b.engine.shards_held().is_empty(), "the lease lives");
        }
        let runs = a.runs(&job).await;
        assert!((17..=20).contains(&runs.len()), "15 s, and as far ahead as jobs are claimed: {}", runs.len());
        assert!(runs.iter().all(|run| run.epoch == 1), "of one holder");
        // Now it is gone. There is no executor that could ask for somebody else, and it needs none.
        let mut waited = 0;
        while b.engine.shards_held().len() < 4 {
            waited += 1;
            assert!(waited <= 13, "TTL + 3 s");
            database_goes_on(&raw, 1_000).await;
            second_of(&b).await;
        }
        assert!(waited > 1, "it had to wait for the end of the lease");
    });
}

// covers: 003-9
#[test]
fn without_redis_scheduling_goes_on_under_the_database_lease() {
    on(Kind::Postgres, async |db| {
        let mut config = db.config();
        // No server listens at this address.
        config.redis_url = Some("redis://127.0.0.1:1/".into());
        let node = Node::on(config, Arc::new(ManualClock::new(START + 2_400_000_000_000))).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(1, |_| ()).await;
        node.round().await;
        node.advance(1_000).await;
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(node.states(&job).await[0], RunState::Running);
        assert!(node.metrics().contains("carillon_degraded 1"));
    });
}

// covers: 6.6, 003-3
#[test]
fn another_shard_count_is_refused_and_says_what_to_do() {
    on(Kind::Postgres, async |db| {
        let mut config = db.config();
        config.shards = Some(4);
        let _first = Node::on(config.clone(), Arc::new(ManualClock::new(START))).await;
        config.shards = Some(8);
        let refused = carillon_admin::Admin::build(config, Arc::new(ManualClock::new(START))).await.err().unwrap();
        assert_eq!(
            refused.to_string(),
            "--shards 8 (CARILLON_SHARDS) differs from the 4 shards of this database; drop the flag"
        );
    });
}

#[test]
fn a_second_process_on_one_sqlite_file_is_refused() {
    on(Kind::Sqlite, async |db| {
        let _first = Node::on(db.config(), Arc::new(ManualClock::new(START))).await;
        let refused = carillon_admin::Admin::build(db.config(), Arc::new(ManualClock::new(START))).await.err().unwrap();
        assert!(refused.to_string().contains("is used by another Carillon process"), "{refused}");
    });
}
