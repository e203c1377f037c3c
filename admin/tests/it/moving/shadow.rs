//! What xxl-job plans, beside what the imported jobs would do.

use carillon_import::xxl_job::{ImportPlan, Shadow, Shape, SourceDatabase, Verdict, import};
use carillon_store::Actor;
use foldhash::HashMap;
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DbBackend, Statement};

use super::tables::{NOW, SHAPES, XxlJob, options};
use crate::conformance::fixture::Fixture;

databases! {
    async fn the_shadow_compares_with_the_imported_jobs(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.odd_jobs(20).await;
        let plan = ImportPlan::make(&xxl.read().await, &fixture.store, &options()).await.unwrap();
        import(&plan, &fixture.store, &Actor::cli(), NOW).await.unwrap();
        let mut schedules = HashMap::default();
        for origin in fixture.store.imports().origins("xxl_job").await.unwrap() {
            let job = fixture.store.jobs().get(origin.job_id).await.unwrap().unwrap();
            schedules.insert(origin.source_id, job.schedule().unwrap());
        }
        // As its admin would have planned on.
        let mut shadow = Shadow::default();
        for minute in 0..5 {
            let observed = shadow.observe(&xxl.read().await.jobs, &schedules, NOW);
            assert!(!observed.is_empty() && observed.iter().all(|seen| seen.verdict == Verdict::Agrees), "{minute}: {observed:?}");
            let cron = "trigger_last_time = trigger_next_time, trigger_next_time = trigger_next_time + 60000";
            xxl.sql(&format!("UPDATE xxl_job_info SET {cron} WHERE trigger_next_time > 0 AND schedule_type = 'CRON'")).await;
            let rate = "trigger_last_time = trigger_next_time, trigger_next_time = trigger_next_time + 45000";
            xxl.sql(&format!("UPDATE xxl_job_info SET {rate} WHERE trigger_next_time > 0 AND schedule_type = 'FIX_RATE'")).await;
        }
        xxl.sql("UPDATE xxl_job_info SET trigger_next_time = trigger_next_time + 7000 WHERE id = 100").await;
        let observed = shadow.observe(&xxl.read().await.jobs, &schedules, NOW);
        let odd: Vec<_> = observed.iter().filter(|seen| seen.verdict != Verdict::Agrees).map(|seen| (seen.id, seen.verdict)).collect();
        assert_eq!(odd, [(100, Verdict::Unexplained)]);
    }
}

#[tokio::test]
async fn a_look_reads_what_is_planned_from_each_shape() {
    for shape in SHAPES {
        let xxl = XxlJob::new(shape).await;
        xxl.odd_jobs(2).await;
        let db = SourceDatabase::connect(&xxl.database.direct_url()).await.unwrap();
        let planned = db.read_jobs(shape).await.unwrap();
        db.close().await.unwrap();
        let all = xxl.read().await.jobs;
        assert_eq!(planned.len(), all.len());
        for (planned, job) in planned.iter().zip(&all) {
            assert_eq!((planned.id, planned.is_running), (job.id, job.is_running));
            assert_eq!((&planned.schedule_type, &planned.schedule_conf), (&job.schedule_type, &job.schedule_conf));
            assert_eq!((planned.last_at, planned.next_at), (job.last_at, job.next_at));
        }
    }
}

#[tokio::test]
async fn a_look_after_a_lost_connection_connects_again() {
    let xxl = XxlJob::new(Shape::V34).await;
    xxl.odd_jobs(0).await;
    let db = SourceDatabase::connect(&xxl.database.direct_url()).await.unwrap();
    let first = db.read_jobs(Shape::V34).await.unwrap().len();
    let others = "SELECT GROUP_CONCAT(CONCAT('KILL ', id) SEPARATOR ';') FROM information_schema.processlist";
    let others = format!("{others} WHERE db = DATABASE() AND id <> CONNECTION_ID()");
    // One connection, which ends all others.
    let mut options = ConnectOptions::new(xxl.database.direct_url());
    options.max_connections(1);
    let raw = Database::connect(options).await.unwrap();
    let kill: String = raw
        .query_one_raw(Statement::from_string(DbBackend::MySql, others))
        .await
        .unwrap()
        .unwrap()
        .try_get_by_index(0)
        .unwrap();
    raw.execute_unprepared(&kill).await.unwrap();
    // The look that finds the connection closed may fail.
    let _ = db.read_jobs(Shape::V34).await;
    assert_eq!(db.read_jobs(Shape::V34).await.unwrap().len(), first);
    db.close().await.unwrap();
}
