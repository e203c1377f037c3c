//! PostgreSQL keeps each earlier version of a row while an old snapshot such as a dump's is open. What runs each second must not
//! walk over all of them.

use carillon_store::db::hot_statements::texts;
use sea_orm::{ConnectionTrait as _, DbBackend, TransactionTrait as _};

use super::rows::connect;
use crate::conformance::fixture::{Fixture, NOW, after};
use crate::services::{Kind, on};

const JOBS: i64 = 100;
const ROUNDS: i64 = 300;

impl Fixture {
    async fn pages_of(&self, name: &str, values: &[i64]) -> u64 {
        let texts = texts(DbBackend::Postgres);
        let (_, text) = texts.iter().find(|(known, _)| *known == name).unwrap();
        let fill = |text: String, value: &i64| text.replacen('?', &value.to_string(), 1);
        self.pages(&values.iter().fold(text.clone(), fill)).await
    }

    /// Cursors that advance and runs that end, as in five minutes of `JOBS` jobs that fire each second.
    async fn churn(&self, shard: i32, job_id: i64, dump: impl Future<Output = ()>) {
        for table in ["job_clock", "run"] {
            self.sql(&format!("ALTER TABLE {table} SET (autovacuum_enabled = false)")).await;
        }
        let cursors: Vec<String> = (1..=JOBS).map(|id| format!("(2, {NOW}, {}, 1)", 1_000 + id)).collect();
        let insert = "INSERT INTO job_clock (shard, next_fire_at, job_id, revision) VALUES";
        self.sql(&format!("{insert} {}", cursors.join(","))).await;
        let runs: Vec<String> = (1..=JOBS * ROUNDS)
            .map(|id| {
                let at = NOW + id * 1000 / JOBS;
                format!("({}, {job_id}, 1, {shard}, 2, {id}, 0, 1, 1, {at}, {at}, 0, 0, 0)", 10_000 + id)
            })
            .collect();
        let insert = "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, \
                      epoch, sends) VALUES";
        for page in runs.chunks(1_000) {
            self.sql(&format!("{insert} {}", page.join(","))).await;
        }
        dump.await;
        for _ in 0..ROUNDS {
            self.sql("UPDATE job_clock SET next_fire_at = next_fire_at + 1000 WHERE shard = 2 AND job_id > 1000").await;
        }
        self.sql("UPDATE run SET state = 9 WHERE id > 10000").await;
        self.sql("ANALYZE").await;
    }
}

// covers: F23
#[test]
fn a_look_at_what_is_due_does_not_walk_over_what_an_old_snapshot_keeps() {
    on(Kind::Postgres, async |db| {
        let fixture = Fixture::new(db).await;
        let run = fixture.ticking("tick").await;
        let dump = connect(db).await;
        let dump = dump.begin().await.unwrap();
        let dump_begins = async {
            let level = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
            dump.execute_unprepared(level).await.unwrap();
            dump.execute_unprepared("SELECT count(*) FROM run").await.unwrap();
        };
        fixture.churn(run.shard, run.id, dump_begins).await;
        let (now, until) = (after(ROUNDS), after(ROUNDS + 5));
        let (from, shard) = (now - 60_000, i64::from(run.shard));
        let late = |from| [shard, 0, from, until, 30_000, until];
        for (name, whole, bounded) in [
            ("due", &[2, 1, until, 200][..], &[2, from, until, 200][..]),
            ("new", &[shard, 0, until, 1_000], &[shard, from, until, 1_000]),
            ("pending", &late(0), &late(from)),
        ] {
            let (whole, bounded) = (fixture.pages_of(name, whole).await, fixture.pages_of(name, bounded).await);
            eprintln!("{name}: {bounded} pages, {whole} without a bound");
            assert!(bounded * 3 < whole, "{name}: {bounded} pages, {whole} without a bound");
        }
        dump.rollback().await.unwrap();
    });
}
