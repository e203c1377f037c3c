//! One session: the three writes for one batch after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use carillon_scheduler::{Clock as _, Millis, Outcome, RunEvent, SystemClock};
use carillon_store::Store;
use carillon_store::db::ids;
use carillon_store::run::claim::{DueJob, HeldLease, JobClaim};
use carillon_store::run::mark::MarkRequest;
use carillon_store::run::settle::finding::{RunReport, SettleContext};

const NODE: &str = "bench";
/// Length of a lease, longer than any measurement: the lease is not renewed.
const TTL: Millis = 24 * 3_600_000;

pub struct Session {
    store: Arc<Store>,
    clock: SystemClock,
    shard: i32,
    epoch: i64,
    batch: usize,
}

/// Number of runs, and the time that each kind of write took for them.
#[derive(Default)]
pub struct WriteTimes {
    pub runs: usize,
    pub claim: Duration,
    pub mark: Duration,
    pub settle: Duration,
}

impl WriteTimes {
    pub fn add(self, other: Self) -> Self {
        Self {
            runs: self.runs + other.runs,
            claim: self.claim + other.claim,
            mark: self.mark + other.mark,
            settle: self.settle + other.settle,
        }
    }
}

impl Session {
    pub async fn take(store: Arc<Store>, shard: i32, batch: usize) -> Self {
        let clock = SystemClock::new();
        let epoch = store.leases().take(shard, NODE, clock.now(), TTL).await.unwrap().unwrap();
        Self { store, clock, shard, epoch, batch }
    }

    pub async fn run(&mut self, until: Instant) -> WriteTimes {
        let mut times = WriteTimes::default();
        while Instant::now() < until {
            let begun = Instant::now();
            let runs = self.claim().await;
            let claimed = Instant::now();
            self.mark(&runs).await;
            let marked = Instant::now();
            self.settle(&runs).await;
            times.runs += runs.len();
            times.claim += claimed - begun;
            times.mark += marked - claimed;
            times.settle += marked.elapsed();
        }
        times
    }

    /// The jobs whose cursors are first, whenever they are due: one instant of each.
    async fn claim(&self) -> Vec<i64> {
        let due = self.store.runs().due_jobs(self.shard, Millis::MAX, self.batch).await.unwrap();
        assert!(!due.is_empty(), "shard {} has no jobs", self.shard);
        let ids = self.store.take_ids(&ids::RUN, due.len()).await.unwrap();
        let claims: Vec<JobClaim> = due.into_iter().zip(&ids).map(|(due, id)| claim(due, *id)).collect();
        let holder = HeldLease { shard: self.shard, epoch: self.epoch, node: NODE, ttl_ms: TTL };
        let changed = self.store.runs().claim(&holder, &claims, self.clock.now()).await.unwrap();
        assert!(changed.is_empty(), "nothing else moves cursors");
        ids
    }

    async fn mark(&self, runs: &[i64]) {
        let mark = |run_id: &i64| MarkRequest {
            run_id: *run_id,
            epoch: self.epoch,
            address: "http://127.0.0.1:9999",
            boot_id: None,
            journal_id: None,
            candidates_id: 1,
            route_code: 0,
            revision: 1,
            app_id: 1,
        };
        let marks: Vec<MarkRequest<'_>> = runs.iter().map(mark).collect();
        let won = self.store.runs().mark(&marks, rand::random(), NODE, self.clock.now()).await.unwrap();
        assert_eq!(won.len(), runs.len());
    }

    async fn settle(&self, runs: &[i64]) {
        let now = self.clock.now();
        let report = |run_id: &i64| RunReport {
            run_id: *run_id,
            event: RunEvent::Reported(Outcome::Succeeded),
            code: Some(200),
            message: None,
            reason: None,
            sent_at: Some(now),
            received_at: Some(now),
            reporter: None,
            not_before: None,
        };
        let reports: Vec<RunReport> = runs.iter().map(report).collect();
        let settled =
            self.store.runs().settle(&reports, &SettleContext { now, jitter: 0.5, restored: false }).await.unwrap();
        assert_eq!(settled.changed.len(), runs.len());
    }
}

fn claim(due: DueJob, run_id: i64) -> JobClaim {
    JobClaim {
        due,
        fires: vec![(run_id, due.next_fire_at)],
        skipped: vec![],
        next_fire_at: Some(due.next_fire_at + 1000),
        counted: false,
    }
}
