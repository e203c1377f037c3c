//! The statements that run all day use an index, on each database.

use super::fixture::{Fixture, SHARDS, after};
use crate::services::Kind;

/// 4,000 jobs, a thousand for each shard, and as many runs that are long over.
async fn fill(fixture: &Fixture) {
    for start in (1..=4000).step_by(500) {
        let rows = |row: &dyn Fn(i64) -> String| (start..start + 500).map(row).collect::<Vec<_>>().join(",");
        let clock = rows(&|id| format!("({}, {}, {id}, 1)", id % i64::from(SHARDS), after(id)));
        fixture.sql(&format!("INSERT INTO job_clock (shard, next_fire_at, job_id, revision) VALUES {clock}")).await;
        let runs = rows(&|id| format!("({id}, {id}, 1, {}, 0, {}, 0, 1, 1, 1, 1, 9, 1, 1)", id % 4, after(-id)));
        fixture
            .sql(&format!(
                "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, \
                 epoch, sends) VALUES {runs}"
            ))
            .await;
    }
}

async fn plan(fixture: &Fixture, kind: Kind, text: &str) -> String {
    let explain = if kind == Kind::Sqlite { "EXPLAIN QUERY PLAN" } else { "EXPLAIN" };
    let rows = fixture.rows(&format!("{explain} {text}")).await;
    let line = |row: &sea_orm::QueryResult| match kind {
        Kind::Sqlite => row.try_get_by_index::<String>(3).unwrap(),
        Kind::Postgres => row.try_get_by_index::<String>(0).unwrap(),
        // type, key
        Kind::Mariadb => {
            let column = |name| row.try_get::<Option<String>>("", name).unwrap().unwrap_or_default();
            format!("{} {}", column("type"), column("key"))
        }
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

databases! {
    async fn a_scan_reads_only_its_shard_by_the_index(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        let analyze = match db.kind() {
            Kind::Mariadb => "ANALYZE TABLE job_clock, run",
            _ => "ANALYZE",
        };
        fixture.sql(analyze).await;
        let text = format!(
            "SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = 2 AND next_fire_at <= {} \
             ORDER BY shard, next_fire_at, job_id LIMIT 200",
            after(20)
        );
        let plan = plan(&fixture, db.kind(), &text).await;
        match db.kind() {
            Kind::Sqlite => assert!(plan.contains("USING PRIMARY KEY (shard=? AND next_fire_at<?)"), "{plan}"),
            Kind::Postgres => assert!(plan.contains("job_clock_pkey") && plan.contains("Index Cond: ((shard = 2)"), "{plan}"),
            Kind::Mariadb => assert_eq!(plan, "range PRIMARY"),
        }
    }

    async fn an_edit_finds_the_runs_ahead_by_the_fire_key(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        fixture.sql(if db.kind() == Kind::Mariadb { "ANALYZE TABLE job_clock, run" } else { "ANALYZE" }).await;
        let text = format!("SELECT MAX(fire_no) FROM run WHERE fire_no > {} AND job_id = 7 AND cause = 0", after(0));
        let plan = plan(&fixture, db.kind(), &text).await;
        assert!(plan.contains("run_fire"), "{plan}");
    }
}
