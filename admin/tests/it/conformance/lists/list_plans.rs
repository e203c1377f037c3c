//! The lists of the console and the API read a bounded part of a large table: by an index, or by a range of ids.

use carillon_store::db::hot_statements::lists;
use sea_orm::{ConnectionTrait as _, Statement};

use crate::conformance::fixture::Fixture;
use crate::conformance::hot::plans::{fill, line};

/// Part of the plan on SQLite, PostgreSQL and MariaDB; empty: each is as good.
fn expected(name: &str) -> [&'static str; 3] {
    match name {
        "paused_jobs" | "count_of_paused_jobs" => ["job_paused", "job_paused", "job_paused"],
        "jobs_by_text" | "jobs_by_kind" => ["SEARCH j USING INTEGER PRIMARY KEY (rowid>?)", "", "j range PRIMARY"],
        "jobs_with_a_tag" => ["job_tag", "", ""],
        "jobs_by_name" => ["job_name", "job_name", "job_name"],
        "jobs_of_an_app" => ["job_app (app_id=?)", "", ""],
        "alarms_of_a_job" => ["alarm_job (job_id=?)", "alarm_job", "alarm ref alarm_job"],
        "alarms_of_a_kind" => ["alarm_kind (kind=?)", "alarm_kind", "alarm ref alarm_kind"],
        "open_alarms" => ["alarm_open (open_at>?)", "alarm_open", "alarm range alarm_open"],
        "closed_alarms" => ["SCAN alarm USING INDEX alarm_created", "alarm_created", ""],
        "escalated_alarms" => ["alarm_escalated", "alarm_escalated", "alarm range alarm_escalated"],
        "stopped_jobs" => ["job_stopped", "job_stopped", "job range job_stopped"],
        "audit_of_an_app" => ["audit_app (app_id=?)", "audit_app", "audit ref audit_app"],
        "audit_of_an_actor" => ["audit_actor (actor=?)", "audit_actor", "audit ref audit_actor"],
        "audit_of_an_action" => ["audit_action (action=?)", "audit_action", "audit ref audit_action"],
        "audit_of_a_source" => ["audit_source (source=?)", "audit_source", "audit ref audit_source"],
        "audit_of_an_object" => ["audit_object (object=? AND object_id=?", "audit_object", "audit ref audit_object"],
        "audit_page" | "audit_since" => ["audit_at", "audit_at", "audit_at"],
        _ => ["SEARCH r USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "run_pkey", "r range PRIMARY"],
    }
}

databases! {
    async fn each_list_uses_its_key(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture, 5_000).await;
        fixture.sql("UPDATE alarm SET job_id = id, kind = CASE WHEN id < 20 THEN 'paused' ELSE 'failed' END").await;
        let spread = "UPDATE audit SET app_id = id % 50, actor = CAST(id % 50 AS CHAR(8)), source = CAST(id % 50 AS CHAR(8)), object = 'job', \
                      object_id = id, action = CASE WHEN id < 20 THEN 'kill' ELSE 'update' END";
        fixture.sql(spread).await;
        fixture.sql(if db.kind() == Kind::Mariadb { "ANALYZE TABLE job, run, alarm, audit" } else { "ANALYZE" }).await;
        let backend = fixture.raw.get_database_backend();
        let mut wrong = vec![];
        for (name, text) in lists(backend) {
            let explain = if db.kind() == Kind::Sqlite { "EXPLAIN QUERY PLAN" } else { "EXPLAIN" };
            let rows = Statement::from_string(backend, format!("{explain} {text}"));
            let rows = fixture.raw.query_all_raw(rows).await.unwrap();
            let plan = rows.iter().map(|row| line(row, db.kind())).collect::<Vec<_>>().join("\n");
            let expected = expected(name)[db.kind() as usize];
            if !plan.contains(expected) {
                wrong.push(format!("{name} should have `{expected}`:\n{plan}\n{text}\n"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
