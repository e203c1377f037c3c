//! Claimed runs that are not sent yet when the lease ends, the database takes no writes, the ring is full, or the job is edited.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{AlarmKind, Clock as _, JobDraft, ManualClock, RunState, ScheduleDraft};
use carillon_store::alarm::alarms::AlarmFilter;
use carillon_testkit::RecordingExecutor;

use super::node::{Node, START, with_registered_executor};
use crate::conformance::fixture::actor;
use crate::flow::lease::leases::database_goes_on;
use crate::services::{Kind, on, runtime};

// covers: H1, I5
#[test]
fn a_holder_whose_lease_ran_out_claims_and_marks_nothing() {
    on(Kind::Mariadb, async |db| {
        let mut config = db.config();
        config.shards = Some(1);
        config.access_token = "0123456789-of-this-test".into();
        let clock = || Arc::new(ManualClock::new(START + 2_400_000_000_000));
        let a = Node::on(config.clone(), clock()).await;
        let executor = RecordingExecutor::start().await;
        a.register(&executor).await;
        let job = a.every(1, |_| ()).await;
        a.round().await;
        let before = a.runs(&job).await.len();
        // It hears nothing of its database for as long as a lease is trusted: whatever is in its ring stays there.
        a.clock.advance(Duration::from_millis(9_000));
        a.dispatch().await;
        a.scan().await;
        a.drain().await;
        assert_eq!((a.runs(&job).await.len(), executor.runs().len()), (before, 0));
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        database_goes_on(&raw, 11_000).await;
        let b = Node::on(config, clock()).await;
        b.clock.advance(Duration::from_secs(11));
        b.register(&executor).await;
        b.round().await;
        assert_eq!(b.engine.shards_held(), [0]);
        b.advance(200).await;
        assert_eq!(executor.runs().len(), 11, "the peer sends them, each once");
        a.renew_leases().await;
        a.dispatch().await;
        a.drain().await;
        assert_eq!(executor.runs().len(), 11);
        assert!(a.engine.shards_held().is_empty());
    });
}

// covers: H8
#[test]
fn a_database_that_takes_no_writes_stops_sends_and_loses_no_instant() {
    with_registered_executor(async |node, executor| {
        let job = node.every(1, |_| ()).await;
        let full = "BEFORE INSERT ON run BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END";
        node.sql(&format!("CREATE TRIGGER full {full}")).await;
        for _ in 0..5 {
            node.advance(1_000).await;
        }
        assert!(node.runs(&job).await.is_empty() && executor.runs().is_empty(), "no record, no send");
        node.sql("DROP TRIGGER full").await;
        node.advance(1_000).await;
        node.advance(0).await;
        let sent = executor.runs().len();
        assert_eq!(sent, 6, "all of them, each once");
        assert!(node.misfires(&job).await.is_empty());
    });
}

// covers: H19
#[test]
fn a_full_ring_claims_nothing_more_says_so_and_nothing_is_lost() {
    runtime().block_on(async {
        let database = crate::services::TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.shards = Some(1);
        config.engine.ring_capacity = 6;
        let node = Node::on(config, Arc::new(ManualClock::new(START))).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let mut jobs = vec![];
        for _ in 0..4 {
            jobs.push(node.every(1, |_| ()).await);
        }
        node.round().await;
        let filter = AlarmFilter { kinds: vec![AlarmKind::Ring], limit: 10, ..AlarmFilter::default() };
        assert_eq!(node.store.alarms().list(&filter).await.unwrap().items.len(), 1);
        for _ in 0..10 {
            node.advance(500).await;
        }
        for _ in 0..40 {
            node.advance(0).await;
        }
        for job in &jobs {
            let runs = node.runs(job).await;
            let due = runs.iter().filter(|run| run.scheduled_at <= START + 5_000);
            assert_eq!(due.clone().count(), 5, "{runs:?}");
            assert!(due.clone().all(|run| run.state != RunState::Claimed), "{runs:?}");
            assert!(node.misfires(job).await.is_empty());
        }
    });
}

/// What §2.7 says of an edit: the past by the old definition, what is ahead by the new one.
// covers: H27, I10
#[test]
fn an_edit_inside_the_look_ahead_plans_the_past_by_the_old_definition_and_the_rest_anew() {
    with_registered_executor(async |node, executor| {
        let job = node.every(1, |draft| draft.params = "old".into()).await;
        node.round().await;
        // A stall: two instants are overdue and two recorded runs too; nothing has been marked.
        node.clock.advance(Duration::from_millis(7_300));
        let draft = JobDraft {
            schedule: ScheduleDraft::cron("0/10 * * * * ?", "UTC"),
            params: "new".into(),
            ..job.draft.clone()
        };
        let job = node.edit(&job, draft).await;
        for _ in 0..10 {
            node.advance(1_000).await;
        }
        let runs = node.runs(&job).await;
        let seconds: Vec<i64> = runs.iter().map(|run| (run.scheduled_at - START) / 1_000).collect();
        assert_eq!(seconds[..7], [1, 2, 3, 4, 5, 6, 7], "the past is whole");
        assert!(seconds[7..].iter().all(|second| (START / 1_000 + second) % 10 == 0), "{seconds:?}");
        let params: Vec<String> =
            executor.runs().iter().map(|run| run.json()["executorParams"].as_str().unwrap().into()).collect();
        assert!(
            params.len() >= 8 && params.iter().all(|params| params == "new"),
            "the definition as it was when it was marked"
        );
    });
}

// covers: H27, I10
#[test]
fn disabled_and_deleted_inside_the_look_ahead_no_run_is_marked_any_more() {
    with_registered_executor(async |node, executor| {
        let (one, other) = (node.every(1, |_| ()).await, node.every(1, |_| ()).await);
        node.round().await;
        node.clock.advance(Duration::from_millis(700));
        let now = node.clock.now();
        node.store.jobs().set_enabled(one.id, false, now, &actor()).await.unwrap();
        node.store.jobs().delete(other.id, now, &actor()).await.unwrap();
        for _ in 0..6 {
            node.advance(1_000).await;
        }
        assert!(executor.runs().is_empty());
        for (job, reason) in [(&one, "disabled"), (&other, "deleted")] {
            let runs = node.runs(job).await;
            assert!(!runs.is_empty());
            assert!(
                runs.iter().all(|run| run.state == RunState::Cancelled && run.reason.as_deref() == Some(reason)),
                "{runs:?}"
            );
        }
        // Manual fires need no enabled schedule.
        node.fire(&one).await;
        node.advance(0).await;
        assert_eq!(executor.runs().len(), 1);
        // Enabled again: what was cancelled and is still ahead is replaced, nothing is there twice.
        node.store.jobs().set_enabled(one.id, true, node.clock.now(), &actor()).await.unwrap();
        for _ in 0..4 {
            node.advance(1_000).await;
        }
        assert_eq!(executor.runs().len(), 5);
    });
}
