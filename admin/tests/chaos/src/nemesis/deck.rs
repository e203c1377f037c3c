//! The cards, and their order.

use std::collections::HashSet;

use crate::options::Db;
use crate::random::Random;
use crate::record::{Class, History};

/// A phase of faults this long, or longer, deals every card: it ends when the whole deck was dealt once, some seconds later if
/// need be.
pub const WHOLE_DECK_SECONDS: u64 = 180;

/// What a card strikes at: each is struck in every run, however short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Admin,
    Redis,
    Database,
    Executor,
    Client,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    pub name: &'static str,
    pub at: At,
    pub class: Class,
}

const fn card(name: &'static str, at: At, class: Class) -> Card {
    Card { name, at, class }
}

/// The two that make a run worth its name: they open it.
const OPENING: [Card; 2] =
    [card("lease_stolen", At::Admin, Class::Holder), card("answer_lost_stock", At::Executor, Class::Executor)];

const REST: [Card; 42] = [
    card("admin_kill", At::Admin, Class::Holder),
    card("admin_stop_1s", At::Admin, Class::Holder),
    card("admin_stop_below_ttl", At::Admin, Class::Holder),
    card("admin_stop_above_ttl", At::Admin, Class::Holder),
    card("admin_term", At::Admin, Class::GracefulStop),
    card("admin_rolling", At::Admin, Class::GracefulStop),
    card("abort_after_claim_commit", At::Admin, Class::Holder),
    card("abort_after_mark_commit", At::Admin, Class::Holder),
    card("abort_after_request_written", At::Admin, Class::Holder),
    card("abort_after_answer_read", At::Admin, Class::Holder),
    card("abort_after_settle_commit", At::Admin, Class::Holder),
    card("admin_clock", At::Admin, Class::Harmless),
    card("shards_set", At::Admin, Class::GracefulStop),
    card("redis_kill", At::Redis, Class::Redis),
    card("redis_flush", At::Redis, Class::Redis),
    card("redis_pause", At::Redis, Class::Redis),
    card("redis_split", At::Redis, Class::Redis),
    card("db_kill", At::Database, Class::Database),
    card("db_stop", At::Database, Class::Database),
    card("db_delay", At::Database, Class::Database),
    card("db_cut", At::Database, Class::Database),
    card("db_silent", At::Database, Class::Database),
    card("db_cut_after_bytes", At::Database, Class::Database),
    card("db_commit_unknown", At::Database, Class::Database),
    card("db_connections", At::Database, Class::Database),
    card("db_dead", At::Database, Class::Database),
    card("db_slow", At::Database, Class::Database),
    card("executor_kill", At::Executor, Class::Executor),
    card("executor_stop", At::Executor, Class::Executor),
    card("executor_term", At::Executor, Class::Executor),
    card("executor_unreachable", At::Executor, Class::Executor),
    card("executor_wiped", At::Executor, Class::Executor),
    card("answer_lost_own", At::Executor, Class::Executor),
    card("run_cut", At::Executor, Class::Executor),
    card("callback_cut", At::Executor, Class::Executor),
    card("batch_answer_cut", At::Executor, Class::Executor),
    card("batch_executor_killed", At::Executor, Class::Executor),
    card("wrong_code", At::Executor, Class::Executor),
    card("bad_gateway", At::Executor, Class::Executor),
    card("slow_loris", At::Client, Class::Harmless),
    card("large_bodies", At::Client, Class::Harmless),
    card("logins", At::Client, Class::Harmless),
];

/// Before a release, or when asked for.
const SOAK: Card = card("db_full", At::Database, Class::Database);

/// Of the variant with one node in one file.
const SQLITE: [Card; 3] = [
    card("sqlite_kill", At::Admin, Class::Holder),
    card("sqlite_full", At::Database, Class::Database),
    card("sqlite_second", At::Admin, Class::Harmless),
];

pub struct Deck {
    /// Dealt from the end.
    waiting: Vec<Card>,
    all: Vec<Card>,
    dealt: usize,
}

impl Deck {
    /// `only`: texts of which a card's name must contain one; empty: all. `soak`: the card that wants a small disk too.
    pub fn new(db: Db, only: &[String], soak: bool) -> Self {
        let chosen = |card: &Card| only.is_empty() || only.iter().any(|text| card.name.contains(&**text));
        let soak = (soak && db != Db::Sqlite).then_some(SOAK);
        let all: Vec<Card> = all(db).into_iter().chain(soak).filter(chosen).collect();
        Self { waiting: vec![], all, dealt: 0 }
    }

    pub fn draw(&mut self, random: &mut Random) -> Card {
        if self.waiting.is_empty() {
            self.shuffle(random);
        }
        self.dealt += 1;
        self.waiting.pop().unwrap_or(OPENING[0])
    }

    /// Each card was dealt once at least.
    pub fn is_dealt_once(&self) -> bool {
        self.dealt >= self.all.len()
    }

    /// The opening first, then one of the database and one of Redis, then chance.
    fn shuffle(&mut self, random: &mut Random) {
        let (mut opening, mut rest): (Vec<Card>, Vec<Card>) =
            self.all.iter().copied().partition(|card| OPENING.contains(card));
        random.shuffle(&mut rest);
        for at in [At::Database, At::Redis] {
            if let Some(index) = rest.iter().position(|card| card.at == at) {
                opening.push(rest.remove(index));
            }
        }
        self.waiting = opening.into_iter().chain(rest).rev().collect();
    }
}

fn all(db: Db) -> Vec<Card> {
    match db {
        Db::Sqlite => {
            let killed = [SQLITE[0]; 4];
            killed.into_iter().chain(SQLITE).collect()
        }
        Db::Postgres | Db::Mariadb => OPENING.into_iter().chain(REST).collect(),
    }
}

/// Cards that a run should have dealt and has not.
pub fn missing(history: &History) -> Vec<String> {
    let dealt: HashSet<&str> = history.faults.iter().map(|fault| &*fault.card).collect();
    let db = if history.meta.db == "sqlite" { Db::Sqlite } else { Db::Postgres };
    all(db).iter().filter(|card| !dealt.contains(card.name)).map(|card| card.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deck_opens_as_it_must_and_deals_each_card_once() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let mut deck = Deck::new(Db::Postgres, &[], false);
            assert!(!deck.is_dealt_once());
            let dealt: Vec<Card> = (0..OPENING.len() + REST.len()).map(|_| deck.draw(&mut random)).collect();
            assert_eq!(dealt[..2], OPENING);
            assert_eq!((dealt[2].at, dealt[3].at), (At::Database, At::Redis));
            assert!(deck.is_dealt_once());
            let names: HashSet<&str> = dealt.iter().map(|card| card.name).collect();
            assert_eq!(names.len(), dealt.len());
        }
    }
}
