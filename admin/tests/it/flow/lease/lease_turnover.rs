//! Nodes come, leave in order and die, in an order that a seed gives, while the steps of those that live are shuffled.

use std::sync::Arc;
use std::time::Duration;

use carillon_admin::config::Config;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{ManualClock, Millis};
use carillon_store::Job;
use carillon_testkit::RecordingExecutor;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use sea_orm::DatabaseConnection;

use crate::flow::lease::leases::database_goes_on;
use crate::flow::lease::shares::nothing_is_lost_or_doubled;
use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

/// In the year 2100, so that the server's clock decides nothing but leases.
const FIRST: Millis = START + 2_400_000_000_000;
const MOST: usize = 4;

struct Cluster {
    config: Config,
    database: DatabaseConnection,
    executor: RecordingExecutor,
    nodes: Vec<Node>,
    seconds: u64,
    random: StdRng,
}

impl Cluster {
    async fn on(db: &TestDatabase, seed: u64) -> Self {
        let mut config = db.config();
        config.shards = Some(5);
        config.access_token = "0123456789-of-this-test".into();
        let mut cluster = Self {
            config,
            database: sea_orm::Database::connect(db.direct_url()).await.unwrap(),
            executor: RecordingExecutor::start().await,
            nodes: vec![],
            seconds: 0,
            random: StdRng::seed_from_u64(seed),
        };
        cluster.join().await;
        cluster
    }

    async fn join(&mut self) {
        let clock = ManualClock::new(FIRST);
        clock.advance(Duration::from_secs(self.seconds));
        self.nodes.push(Node::on(self.config.clone(), Arc::new(clock)).await);
    }

    /// The leases go back, or they stay until they are over.
    async fn leave(&mut self, in_order: bool) {
        let which = self.random.random_range(0..self.nodes.len());
        let node = self.nodes.remove(which);
        if in_order {
            node.services.coordinator.release_all().await;
            node.engine.close();
        }
    }

    async fn second(&mut self) {
        self.seconds += 1;
        database_goes_on(&self.database, 1_000).await;
        for node in &self.nodes {
            node.clock.advance(Duration::from_secs(1));
        }
        if self.seconds % 20 == 1 {
            self.nodes[0].register(&self.executor).await;
        }
        let mut steps: Vec<usize> = (0..3 * self.nodes.len()).collect();
        steps.shuffle(&mut self.random);
        for step in steps {
            self.step(&self.nodes[step / 3], step % 3).await;
        }
    }

    async fn step(&self, node: &Node, step: usize) {
        match step {
            0 => drop(node.renew_leases().await),
            1 => {
                node.scan().await;
            }
            _ => {
                node.services.refresher.step().await;
                node.dispatch().await;
                node.drain().await;
            }
        }
    }
}

/// There: each node recalculated the owner of a bucket, with a pause of ten seconds between the old one and the
/// new; and the next time was written whatever it had been.
fn storm(kind: Kind, seed: u64) {
    on(kind, async |db| {
        let mut cluster = Cluster::on(db, seed).await;
        let mut jobs: Vec<Job> = vec![];
        for _ in 0..5 {
            jobs.push(cluster.nodes[0].every(1, |_| ()).await);
        }
        let (mut came, mut went) = (0, 0);
        for _ in 0..60 {
            match cluster.random.random_range(0..6) {
                0 | 1 if cluster.nodes.len() < MOST => {
                    cluster.join().await;
                    came += 1;
                }
                last @ (2 | 3) if cluster.nodes.len() > 1 => {
                    cluster.leave(last == 2).await;
                    went += 1;
                }
                _ => {}
            }
            cluster.second().await;
        }
        assert!(came > 5 && went > 5, "a storm: {came} came, {went} went");
        // Longer than the lease of one that has just died.
        for _ in 0..20 {
            cluster.second().await;
        }
        let mut held: Vec<i32> = cluster.nodes.iter().flat_map(|node| node.engine.shards_held()).collect();
        held.sort_unstable();
        assert_eq!(held, [0, 1, 2, 3, 4], "each shard has one holder");
        nothing_is_lost_or_doubled(&cluster.nodes[0], &jobs, &cluster.executor).await;
        let runs = cluster.nodes[0].runs(&jobs[0]).await;
        assert!(runs.len() >= 80, "{}", runs.len());
    });
}

// covers: 6.11
#[test]
fn nodes_that_come_and_go_lose_and_double_nothing_on_postgres() {
    for seed in [1, 2] {
        storm(Kind::Postgres, seed);
    }
}

// covers: 6.11
#[test]
fn nodes_that_come_and_go_lose_and_double_nothing_on_mariadb() {
    storm(Kind::Mariadb, 3);
}
