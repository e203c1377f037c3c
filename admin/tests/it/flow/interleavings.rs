//! Two nodes on one database, in every order that their steps can come in, and in random orders that a seed repeats.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Clock as _, ManualClock, Millis, RunState, ScheduleDraft};
use carillon_store::Job;
use carillon_testkit::RecordingExecutor;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sea_orm::{ConnectionTrait as _, DatabaseConnection};

use super::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

/// In the year 2100, so that the server's clock decides nothing but leases.
const FIRST: Millis = START + 2_400_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Looks after its shards.
    Shards,
    Scan,
    /// Marks and sends what is due.
    Tick,
    /// All leases are over and no node has been seen for a long time, as each of the two will find.
    Lapse,
}

struct Pair {
    nodes: [Node; 2],
    database: DatabaseConnection,
    executor: RecordingExecutor,
}

impl Pair {
    async fn on(db: &TestDatabase) -> Self {
        let node = async || {
            let mut config = db.config();
            config.shards = Some(2);
            config.access_token = "0123456789-of-this-test".into();
            Node::on(config, Arc::new(ManualClock::new(FIRST))).await
        };
        let (nodes, executor) = ([node().await, node().await], RecordingExecutor::start().await);
        for node in &nodes {
            node.register(&executor).await;
        }
        Self { nodes, database: sea_orm::Database::connect(db.direct_url()).await.unwrap(), executor }
    }

    async fn sql(&self, text: &str) {
        self.database.execute_unprepared(text).await.unwrap();
    }

    async fn step(&self, of: usize, step: Step) {
        let node = &self.nodes[of];
        match step {
            Step::Shards => {
                node.renew_leases().await;
            }
            Step::Scan => {
                node.scan().await;
            }
            Step::Tick => {
                node.dispatch().await;
                node.drain().await;
            }
            Step::Lapse => {
                self.sql("UPDATE shard_lease SET expires_at = 0").await;
                self.sql("UPDATE node SET seen_at = seen_at - 60000").await;
            }
        }
    }

    /// A node that sees no other wants every shard: which ones it would want beside another depends on their ids, and
    /// those are random.
    async fn forget_the_other(&self) {
        self.sql("DELETE FROM node").await;
    }

    async fn go_on(&self, ms: u64) {
        for node in &self.nodes {
            node.clock.advance(Duration::from_millis(ms));
        }
    }

    /// One job in each shard, due at once.
    async fn jobs(&self) -> Vec<Job> {
        let due = self.nodes[0].clock.now() + 1_000;
        let mut jobs = vec![];
        for _ in 0..2 {
            let once = |draft: &mut carillon_scheduler::JobDraft| {
                draft.schedule = ScheduleDraft::once(due);
            };
            jobs.push(self.nodes[0].job(once).await);
        }
        self.go_on(1_000).await;
        jobs
    }

    /// Nothing more goes wrong: whatever is open comes to its end.
    async fn heal(&self, jobs: &[Job]) {
        for _ in 0..5 {
            for node in &self.nodes {
                node.register(&self.executor).await;
                node.round().await;
            }
            if self.have_arrived(jobs).await {
                return;
            }
            self.go_on(1_000).await;
        }
    }

    async fn have_arrived(&self, jobs: &[Job]) -> bool {
        for job in jobs {
            let states = self.nodes[0].states(job).await;
            let waits = |state: &RunState| matches!(state, RunState::Claimed | RunState::Sending);
            if states.is_empty() || states.iter().any(waits) {
                return false;
            }
        }
        true
    }

    /// Each instant was recorded once and received once.
    async fn check(&self, jobs: &[Job], story: &str) {
        let mut received: HashMap<i64, usize> = HashMap::new();
        for request in self.executor.runs() {
            *received.entry(request.run_id()).or_default() += 1;
        }
        for job in jobs {
            let runs = self.nodes[0].runs(job).await;
            assert_eq!(runs.len(), 1, "{story}");
            let (state, sends) = (runs[0].state, runs[0].sends);
            assert_eq!((state, sends), (RunState::Running, 1), "{story}");
            assert_eq!(received.get(&runs[0].id), Some(&1), "{story}");
            self.nodes[0].callback(&[(runs[0].id, 200, "done")]).await;
        }
    }
}

/// All orders of the steps of two nodes: bit n says whose the n-th step is.
fn orders(steps: usize) -> impl Iterator<Item = Vec<usize>> {
    let all = (0_u32..1 << (2 * steps)).filter(move |mask| mask.count_ones() as usize == steps);
    all.map(move |mask| (0..2 * steps).map(|bit| usize::from(mask >> bit & 1 == 1)).collect())
}

/// 20 orders, and in each the leases end at one of seven moments: 140 stories.
fn every_order(kind: Kind) {
    on(kind, async |db| {
        let pair = Pair::on(db).await;
        pair.heal(&[]).await;
        let mine = [Step::Shards, Step::Scan, Step::Tick];
        for order in orders(mine.len()) {
            for lapse in 0..=order.len() {
                let jobs = pair.jobs().await;
                let mut story = vec![];
                let mut next = [0, 0];
                for (at, &of) in order.iter().enumerate() {
                    if at == lapse {
                        story.push((of, Step::Lapse));
                    }
                    story.push((of, mine[next[of]]));
                    next[of] += 1;
                }
                if lapse == order.len() {
                    story.push((0, Step::Lapse));
                }
                for &(of, step) in &story {
                    pair.step(of, step).await;
                }
                pair.heal(&jobs).await;
                pair.check(&jobs, &format!("{story:?}")).await;
            }
        }
    });
}

// covers: H1
#[test]
fn every_order_of_two_nodes_on_postgres() {
    every_order(Kind::Postgres);
}

// covers: H1
#[test]
fn every_order_of_two_nodes_on_mariadb() {
    every_order(Kind::Mariadb);
}

/// Forty random steps; what each did to the table of runs.
async fn random_story(db: &TestDatabase, seed: u64) -> Vec<String> {
    let pair = Pair::on(db).await;
    let mut random = StdRng::seed_from_u64(seed);
    let (mut jobs, mut log) = (vec![], vec![]);
    for _ in 0..40 {
        let of = random.random_range(0..2);
        let step = match random.random_range(0..10) {
            0 => Step::Lapse,
            1..=3 => Step::Shards,
            4..=6 => Step::Scan,
            _ => Step::Tick,
        };
        if random.random_bool(0.2) {
            jobs.extend(pair.jobs().await);
        }
        pair.forget_the_other().await;
        pair.step(of, step).await;
        let mut states = vec![];
        for job in &jobs {
            states.push(pair.nodes[0].states(job).await);
        }
        log.push(format!("{of} {step:?} {states:?}"));
    }
    pair.heal(&jobs).await;
    pair.check(&jobs, &format!("seed {seed}")).await;
    log
}

#[test]
fn a_seed_repeats_its_story() {
    for seed in [1, 2, 3] {
        let told = [(), ()].map(|()| {
            let mut log = vec![];
            on(Kind::Postgres, async |db| log = random_story(db, seed).await);
            log
        });
        assert_eq!(told[0], told[1], "seed {seed}");
        let varied: std::collections::HashSet<&String> = told[0].iter().collect();
        assert!(varied.len() > 10, "nothing happened: {:?}", told[0]);
    }
}
