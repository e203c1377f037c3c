//! The service that deletes: by age and by number, in rounds, while the job goes on.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_inspect::audit::GapReason;
use carillon_inspect::audit::audit_job;
use carillon_scheduler::ManualClock;
use carillon_store::retention::rules::{Retention, Scope};
use sea_orm::ConnectionTrait as _;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START};

/// Until a round has come to its end.
async fn round(node: &Node) {
    for _ in 0..50 {
        if node.services.pruner.step().await.next >= Duration::from_secs(600) {
            return;
        }
    }
    panic!("the round never ends");
}

databases! {
    // covers: 001-35
    async fn old_runs_go_last_failures_stay_and_the_job_goes_on(db: &TestDatabase) {
        let node = Node::with_shards(db, 2).await;
        let job = node.every(1, |_| {}).await;
        for _ in 0..10 {
            node.advance(1000).await;
        }
        let database = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let at = |second: i64| START + second * 1000;
        // 1 to 4 s failed, 5 to 8 s did not; 9 s found no executor.
        // No report has to count them.
        database.execute_unprepared("UPDATE report_cursor SET run_id = 1000000").await.unwrap();
        for (text, from, to) in [("state = 10", 1, 4), ("state = 9", 5, 8)] {
            let text = format!("UPDATE run SET {text}, finished_at = fire_no WHERE fire_no >= {} AND fire_no <= {}", at(from), at(to));
            database.execute_unprepared(&text).await.unwrap();
        }
        let rule = Retention { failures: Some(2), ..Retention::default() };
        node.store.retention().set(Scope::App(job.app_id), rule, START, &actor()).await.unwrap();
        round(&node).await;
        let left = async || node.runs(&job).await.iter().map(|run| (run.scheduled_at - START) / 1000).collect::<Vec<_>>();
        assert_eq!(left().await[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
        // A hundred days later: no node has worked meanwhile.
        node.clock.advance(Duration::from_secs(100 * 86_400));
        node.round().await;
        let text = "INSERT INTO last_failure (run_id, job_id) SELECT id, job_id FROM run WHERE state = 10";
        database.execute_unprepared(text).await.unwrap();
        database.close().await.unwrap();
        round(&node).await;
        assert_eq!(left().await[..2], [4, 9], "its last failures");
        assert!(!left().await.iter().any(|second| (5..=8).contains(second)));
        assert!(node.metrics().contains("carillon_runs_pruned_total 7"), "{}", node.metrics());
        let day = i32::try_from(START / 86_400_000).unwrap();
        let counts = node.store.retention().day_counts(job.id, day, day).await.unwrap();
        assert_eq!((counts[0].succeeded, counts[0].failed), (4, 3));
        // The audit says that they were pruned, not that they were lost.
        let looked = audit_job(&node.store, job.id, START, at(8), 1000).await.unwrap().unwrap();
        assert!(looked.differences.iter().all(|it| it.reason == GapReason::Pruned), "{looked:?}");
        // Of a number of runs the oldest go.
        let rule = Retention { runs: Some(1), ..Retention::default() };
        node.store.retention().set(Scope::Job(job.id), rule, START, &actor()).await.unwrap();
        round(&node).await;
        node.advance(1000).await;
        assert!(node.runs(&job).await.len() > 2, "it goes on");
    }

    async fn nothing_is_deleted_by_who_does_not_hold_the_first_shard(db: &TestDatabase) {
        let node = Node::on(db.config(), Arc::new(ManualClock::new(START))).await;
        assert_eq!(node.services.pruner.step().await.next, Duration::from_secs(60));
    }

    // covers: G7
    async fn a_number_of_runs_is_kept_by_the_first_walk_after_a_start(db: &TestDatabase) {
        let node = Node::with_shards(db, 2).await;
        let job = node.job(|_| {}).await;
        node.round().await;
        let database = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        database.execute_unprepared("UPDATE report_cursor SET run_id = 1000000").await.unwrap();
        let rows: Vec<String> = (1..=1500).map(|id| {
            let at = START + id - 86_400_000;
            format!("({id}, {}, {}, {}, 0, {at}, 0, 1, 1, {at}, {at}, 9, 1, 1, {at})", job.id, job.app_id, job.shard)
        }).collect();
        for rows in rows.chunks(500) {
            let text = format!("INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, finished_at) VALUES {}", rows.join(","));
            database.execute_unprepared(&text).await.unwrap();
        }
        database.close().await.unwrap();
        let rule = Retention { runs: Some(10), ..Retention::default() };
        node.store.retention().set(Scope::Job(job.id), rule, START, &actor()).await.unwrap();
        round(&node).await;
        let left: Vec<i64> = node.runs(&job).await.iter().map(|run| run.id).collect();
        assert_eq!(left, (1491..=1500).collect::<Vec<_>>());
    }

    async fn all_runs_are_walked_over_at_a_fixed_pace_and_old_ones_are_found_without_it(db: &TestDatabase) {
        let node = Node::with_shards(db, 2).await;
        let job = node.job(|_| {}).await;
        node.round().await;
        let database = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        database.execute_unprepared("UPDATE report_cursor SET run_id = 1000000").await.unwrap();
        let rows: Vec<String> = (1..=3500).map(|id| {
            let at = START - if id <= 500 { 31 * 86_400_000 } else { 86_400_000 } + id;
            format!("({id}, {}, {}, {}, 0, {at}, 0, 1, 1, {at}, {at}, 9, 1, 1, {at})", job.id, job.app_id, job.shard)
        }).collect();
        for rows in rows.chunks(500) {
            let text = format!("INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, finished_at) VALUES {}", rows.join(","));
            database.execute_unprepared(&text).await.unwrap();
        }
        assert_eq!(node.store.retention().last_run_due_before(START - 30 * 86_400_000).await.unwrap(), 500);
        let mut pauses = vec![];
        for _ in 0..4 {
            pauses.push(node.services.pruner.step().await.next.as_secs());
            if pauses.len() == 1 {
                assert!(node.metrics().contains("carillon_runs_pruned_total 500"), "{}", node.metrics());
            }
        }
        assert_eq!(pauses, [1, 1, 1, 600], "a thousand runs a second");
        database.close().await.unwrap();
    }
}
