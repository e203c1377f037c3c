//! What a statement reads, counted: only what it was asked for, and no more of a large table than of a small one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use carillon_store::db::hot_statements::texts;
use sea_orm::{ConnectionTrait as _, Statement, TransactionTrait as _};

use crate::conformance::fixture::{Fixture, SHARDS, after};
use crate::conformance::hot::plans::{fill, values};
use crate::services::Kind;

impl Fixture {
    /// Jobs of these ids with their cursors; the first 2,100 have a fixed delay, and half of the others.
    async fn grow(&self, kind: Kind, ids: std::ops::RangeInclusive<i64>) {
        let is_delayed = |id: i64| id <= 2_100 || id % 8 < 4;
        for chunk in ids.collect::<Vec<_>>().chunks(1000) {
            let rows = |row: &dyn Fn(i64) -> String| {
                let rows: Vec<String> = chunk.iter().map(|id| row(*id)).collect();
                rows.join(",")
            };
            let jobs = rows(&|id| {
                let (shard, kind) = (id % i64::from(SHARDS), if is_delayed(id) { "fixed_delay" } else { "cron" });
                format!(
                    "({id}, 1, {shard}, 'n', 'h', '{kind}', '{{}}', 0, 'all', 'skip', 60000, 'first', 'serial', 0, 0, TRUE, 1, 1, 1)"
                )
            });
            let cursors = rows(&|id| {
                let delayed = if is_delayed(id) { id.to_string() } else { "NULL".to_owned() };
                format!("({}, {}, {id}, 1, {delayed})", id % i64::from(SHARDS), after(id))
            });
            self.sql(&format!(
                "INSERT INTO job (id, app_id, shard, name, handler, schedule_kind, schedule_text, anchor_at, catch_up, misfire, \
                 misfire_threshold_ms, route, block, timeout_seconds, retries, enabled, revision, created_at, updated_at) VALUES {jobs}"
            ))
            .await;
            self.sql(&format!(
                "INSERT INTO job_clock (shard, next_fire_at, job_id, revision, delayed_job) VALUES {cursors}"
            ))
            .await;
        }
        let analyze = match kind {
            Kind::Mariadb => "ANALYZE TABLE job, job_clock",
            _ => "ANALYZE",
        };
        self.sql(analyze).await;
    }

    fn filled(&self, kind: Kind, name: &str) -> String {
        let texts = texts(self.raw.get_database_backend());
        let text = texts.iter().find(|(of, _)| *of == name).unwrap().1.clone();
        let fill = |text: String, value: &String| text.replacen('?', value, 1);
        values(name, kind).iter().fold(text, fill)
    }

    /// What running the statement costs, in what its database counts: steps of SQLite's machine, pages that PostgreSQL
    /// looks into, rows that MariaDB reads.
    async fn cost(&self, kind: Kind, name: &str) -> u64 {
        let text = self.filled(kind, name);
        match kind {
            Kind::Sqlite => self.steps(&text).await,
            Kind::Postgres => self.pages(&text).await,
            Kind::Mariadb => self.rows_read(&text).await,
        }
    }

    async fn steps(&self, text: &str) -> u64 {
        let mut connection = self.raw.get_sqlite_connection_pool().acquire().await.unwrap();
        let steps = Arc::<AtomicU64>::default();
        let counted = steps.clone();
        connection.lock_handle().await.unwrap().set_progress_handler(1, move || {
            counted.fetch_add(1, Ordering::Relaxed);
            true
        });
        sea_orm::sqlx::query(sea_orm::sqlx::AssertSqlSafe(text.to_owned())).fetch_all(&mut *connection).await.unwrap();
        connection.lock_handle().await.unwrap().remove_progress_handler();
        steps.load(Ordering::Relaxed)
    }

    /// Looked into twice, as the first look of a session reads the head of an index too. A small table would be read as a whole.
    pub async fn pages(&self, text: &str) -> u64 {
        let tx = self.raw.begin().await.unwrap();
        tx.execute_unprepared("SET LOCAL enable_seqscan = off").await.unwrap();
        let text = format!("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {text}");
        let mut pages = 0;
        for _ in 0..2 {
            let asked = Statement::from_string(tx.get_database_backend(), &text);
            let row = tx.query_one_raw(asked).await.unwrap().unwrap();
            let plan: serde_json::Value = row.try_get_by_index(0).unwrap();
            let of = |key: &str| plan[0]["Plan"][key].as_u64().unwrap();
            pages = of("Shared Hit Blocks") + of("Shared Read Blocks");
        }
        tx.rollback().await.unwrap();
        pages
    }

    async fn rows_read(&self, text: &str) -> u64 {
        let tx = self.raw.begin().await.unwrap();
        let backend = tx.get_database_backend();
        tx.execute_unprepared("FLUSH STATUS").await.unwrap();
        tx.query_all_raw(Statement::from_string(backend, text)).await.unwrap();
        let status = Statement::from_string(backend, "SHOW SESSION STATUS LIKE 'Handler_read%'");
        let rows = tx.query_all_raw(status).await.unwrap();
        tx.rollback().await.unwrap();
        let value = |row: &sea_orm::QueryResult| row.try_get::<String>("", "Value").unwrap();
        rows.iter().map(|row| value(row).parse::<u64>().unwrap()).sum()
    }
}

databases! {
    // covers: F9
    async fn a_fixed_delay_costs_the_same_at_10_and_at_10_000_jobs(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        // A larger index of PostgreSQL has one more level of pages.
        let level = if db.kind() == Kind::Postgres { 4 } else { 0 };
        fixture.grow(db.kind(), 1..=10).await;
        let found = ["delayed_cursor", "delayed_cursors"];
        let mut few = vec![];
        for name in found {
            few.push((name, fixture.cost(db.kind(), name).await));
        }
        fixture.grow(db.kind(), 11..=2_100).await;
        let page = "delayed_jobs";
        few.push((page, fixture.cost(db.kind(), page).await));
        fixture.grow(db.kind(), 2_101..=10_000).await;
        for (name, few) in few {
            let many = fixture.cost(db.kind(), name).await;
            assert!(few.abs_diff(many) <= level, "{name} costs {few} with few jobs and {many} with many");
        }
    }

    // covers: 001-2
    async fn a_scan_reads_as_many_rows_as_are_due(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        if db.kind() == Kind::Sqlite {
            // Its plan says all: both conditions are in the key.
            return;
        }
        fill(&fixture, 5_000).await;
        let analyze = match db.kind() {
            Kind::Mariadb => "ANALYZE TABLE job_clock",
            _ => "ANALYZE",
        };
        fixture.sql(analyze).await;
        let text = texts(fixture.raw.get_database_backend()).swap_remove(0).1;
        let filled = values("due", db.kind()).iter().fold(text, |text, value| text.replacen('?', value, 1));
        // Five of the first twenty seconds are this shard's.
        if db.kind() == Kind::Mariadb {
            let read: String = fixture.rows(&format!("ANALYZE {filled}")).await[0].try_get("", "r_rows").unwrap();
            assert_eq!(read, "5.00");
        } else {
            let rows = fixture.rows(&format!("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {filled}")).await;
            let plan: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
            let plan = plan.join("\n");
            assert!(plan.contains("(actual rows=5 loops=1)") && !plan.contains("Rows Removed"), "{plan}");
        }
    }

    // covers: F10
    async fn questions_about_open_runs_read_no_entry_of_a_run_that_has_ended(db: &TestDatabase) {
        if db.kind() != Kind::Mariadb {
            // The index of the others has only open runs.
            return;
        }
        let fixture = Fixture::new(db).await;
        fill(&fixture, 5_000).await;
        fixture.sql("ANALYZE TABLE job, job_clock, run").await;
        for name in ["open_runs", "active", "astray", "open_of_backfills", "open_links"] {
            let read = fixture.rows_read(&fixture.filled(db.kind(), name)).await;
            assert!(read < 500, "{name} reads {read} rows, of which 60 are open runs");
        }
    }
}
