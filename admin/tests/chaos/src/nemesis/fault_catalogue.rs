//! All kinds of fault, and the order in which a run injects them.

use std::collections::HashSet;

use crate::options::Db;
use crate::random::Random;
use crate::record::{Class, History};

/// Shortest phase of faults in which every kind is injected, in seconds. The phase lasts some seconds longer if a kind is still
/// missing at its end.
pub const WHOLE_CATALOGUE_SECONDS: u64 = 180;

/// The part of the cluster that a fault hits. Every run hits each part, however short the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Admin,
    Redis,
    Database,
    Executor,
    Client,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultKind {
    pub name: &'static str,
    pub at: At,
    pub class: Class,
}

const fn kind(name: &'static str, at: At, class: Class) -> FaultKind {
    FaultKind { name, at, class }
}

/// Faults that every run starts with: without these two a run proves little.
const OPENING: [FaultKind; 2] =
    [kind("lease_stolen", At::Admin, Class::Holder), kind("answer_lost_stock", At::Executor, Class::Executor)];

const REST: [FaultKind; 58] = [
    kind("admin_kill", At::Admin, Class::Holder),
    kind("admin_stop_1s", At::Admin, Class::Holder),
    kind("admin_stop_below_ttl", At::Admin, Class::Holder),
    kind("admin_stop_above_ttl", At::Admin, Class::Holder),
    kind("admin_term", At::Admin, Class::GracefulStop),
    kind("admin_rolling", At::Admin, Class::GracefulStop),
    kind("abort_after_claim_commit", At::Admin, Class::Holder),
    kind("abort_after_mark_commit", At::Admin, Class::Holder),
    kind("abort_after_request_written", At::Admin, Class::Holder),
    kind("abort_after_answer_read", At::Admin, Class::Holder),
    kind("abort_after_settle_commit", At::Admin, Class::Holder),
    kind("abort_before_advance_commit", At::Admin, Class::Holder),
    kind("abort_after_advance_commit", At::Admin, Class::Holder),
    kind("abort_before_hold_commit", At::Admin, Class::Holder),
    kind("abort_after_hold_commit", At::Admin, Class::Holder),
    kind("abort_before_workflow_commit", At::Admin, Class::Holder),
    kind("abort_after_workflow_commit", At::Admin, Class::Holder),
    kind("abort_before_map_commit", At::Admin, Class::Holder),
    kind("abort_after_map_commit", At::Admin, Class::Holder),
    kind("http_sender_killed", At::Admin, Class::Holder),
    kind("limit_holder_killed", At::Admin, Class::Holder),
    kind("admin_clock", At::Admin, Class::Harmless),
    kind("shards_set", At::Admin, Class::GracefulStop),
    kind("redis_kill", At::Redis, Class::Redis),
    kind("redis_flush", At::Redis, Class::Redis),
    kind("redis_pause", At::Redis, Class::Redis),
    kind("redis_split", At::Redis, Class::Redis),
    kind("db_kill", At::Database, Class::Database),
    kind("db_stop", At::Database, Class::Database),
    kind("db_delay", At::Database, Class::Database),
    kind("db_cut", At::Database, Class::Database),
    kind("db_silent", At::Database, Class::Database),
    kind("db_cut_after_bytes", At::Database, Class::Database),
    kind("db_commit_unknown", At::Database, Class::Database),
    kind("db_connections", At::Database, Class::Database),
    kind("db_dead", At::Database, Class::Database),
    kind("db_slow", At::Database, Class::Database),
    kind("flow_last_parents", At::Database, Class::Database),
    kind("executor_kill", At::Executor, Class::Executor),
    kind("executor_stop", At::Executor, Class::Executor),
    kind("executor_term", At::Executor, Class::Executor),
    kind("executor_unreachable", At::Executor, Class::Executor),
    kind("executor_wiped", At::Executor, Class::Executor),
    kind("answer_lost_own", At::Executor, Class::Executor),
    kind("run_cut", At::Executor, Class::Executor),
    kind("callback_cut", At::Executor, Class::Executor),
    kind("batch_answer_cut", At::Executor, Class::Executor),
    kind("batch_executor_killed", At::Executor, Class::Executor),
    kind("map_executor_killed", At::Executor, Class::Executor),
    kind("loop_executor_killed", At::Executor, Class::Executor),
    kind("loop_executor_stopped", At::Executor, Class::Executor),
    // Runs go on as ever: no instant may be late by these two.
    kind("loop_grant_delayed", At::Executor, Class::Harmless),
    kind("loop_renewal_cut", At::Executor, Class::Harmless),
    kind("wrong_code", At::Executor, Class::Executor),
    kind("bad_gateway", At::Executor, Class::Executor),
    kind("slow_loris", At::Client, Class::Harmless),
    kind("large_bodies", At::Client, Class::Harmless),
    kind("logins", At::Client, Class::Harmless),
];

/// Before a release, or when asked for.
const SOAK: FaultKind = kind("db_full", At::Database, Class::Database);

/// Faults of the variant with one node in one file.
const SQLITE: [FaultKind; 3] = [
    kind("sqlite_kill", At::Admin, Class::Holder),
    kind("sqlite_full", At::Database, Class::Database),
    kind("sqlite_second", At::Admin, Class::Harmless),
];

pub struct FaultQueue {
    /// Drawn from the end.
    waiting: Vec<FaultKind>,
    all: Vec<FaultKind>,
    drawn: usize,
}

impl FaultQueue {
    /// `only`: texts of which a fault's name must contain one; empty: all. `soak`: adds the fault that needs a small disk.
    pub fn new(db: Db, only: &[String], soak: bool) -> Self {
        let chosen = |kind: &FaultKind| only.is_empty() || only.iter().any(|text| kind.name.contains(&**text));
        let soak = (soak && db != Db::Sqlite).then_some(SOAK);
        let all: Vec<FaultKind> = all(db).into_iter().chain(soak).filter(chosen).collect();
        Self { waiting: vec![], all, drawn: 0 }
    }

    pub fn draw(&mut self, random: &mut Random) -> FaultKind {
        if self.waiting.is_empty() {
            self.shuffle(random);
        }
        self.drawn += 1;
        self.waiting.pop().unwrap_or(OPENING[0])
    }

    /// Whether each fault was drawn at least once.
    pub fn is_drawn_once(&self) -> bool {
        self.drawn >= self.all.len()
    }

    /// The opening first, then one of the database and one of Redis, then chance.
    fn shuffle(&mut self, random: &mut Random) {
        let (mut opening, mut rest): (Vec<FaultKind>, Vec<FaultKind>) =
            self.all.iter().copied().partition(|kind| OPENING.contains(kind));
        random.shuffle(&mut rest);
        for at in [At::Database, At::Redis] {
            if let Some(index) = rest.iter().position(|kind| kind.at == at) {
                opening.push(rest.remove(index));
            }
        }
        self.waiting = opening.into_iter().chain(rest).rev().collect();
    }
}

fn all(db: Db) -> Vec<FaultKind> {
    match db {
        Db::Sqlite => {
            let killed = [SQLITE[0]; 4];
            killed.into_iter().chain(SQLITE).collect()
        }
        Db::Postgres | Db::Mariadb => OPENING.into_iter().chain(REST).collect(),
    }
}

/// Names of the faults that a run should have injected and has not.
pub fn missing(history: &History) -> Vec<String> {
    let drawn: HashSet<&str> = history.faults.iter().map(|fault| &*fault.name).collect();
    let db = if history.meta.db == "sqlite" { Db::Sqlite } else { Db::Postgres };
    all(db).iter().filter(|kind| !drawn.contains(kind.name)).map(|kind| kind.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_opens_as_it_must_and_draws_each_fault_once() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let mut queue = FaultQueue::new(Db::Postgres, &[], false);
            assert!(!queue.is_drawn_once());
            let drawn: Vec<FaultKind> = (0..OPENING.len() + REST.len()).map(|_| queue.draw(&mut random)).collect();
            assert_eq!(drawn[..2], OPENING);
            assert_eq!((drawn[2].at, drawn[3].at), (At::Database, At::Redis));
            assert!(queue.is_drawn_once());
            let names: HashSet<&str> = drawn.iter().map(|kind| kind.name).collect();
            assert_eq!(names.len(), drawn.len());
        }
    }
}
