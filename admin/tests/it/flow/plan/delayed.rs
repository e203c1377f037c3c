//! Delayed triggers, from the request to the run: the situations in which one may be.

use std::sync::Arc;

use carillon_engine::Error;
use carillon_engine::manage::{DelayedRun, DueTime, FoundRun, KillResult, PauseRequest, RunLaterRequest};
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Cause, Clock as _, JobDraft, ManualClock, Millis, RunState};
use carillon_store::{Actor, Job};
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START, on_node, with_executor, with_registered_executor};
use crate::services::{Kind, TestDatabase, on};

fn later(due: DueTime) -> DelayedRun {
    DelayedRun { due, expires_after_seconds: None, params: None, parts: None, priority: None, address: None }
}

impl Node {
    async fn run_later(&self, job: &Job, runs: Vec<DelayedRun>, key: Option<&str>) -> Vec<i64> {
        let request = RunLaterRequest {
            job_id: job.id,
            runs,
            idempotency_key: key.map(str::to_owned),
            traceparent: None,
            is_list: false,
        };
        self.engine.jobs().run_later(request, &Actor::engine()).await.unwrap().ids
    }

    async fn in_seconds(&self, job: &Job, seconds: i64) -> i64 {
        self.run_later(job, vec![later(DueTime::InSeconds(seconds))], None).await[0]
    }

    async fn is_scheduled(&self, id: i64) -> bool {
        matches!(self.engine.runs().find(id).await.unwrap(), FoundRun::Scheduled(_))
    }
}

#[test]
fn a_delayed_trigger_runs_at_its_time_and_its_number_finds_the_run() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|draft| draft.params = "own".into()).await;
        let given = DelayedRun { params: Some("given".into()), ..later(DueTime::At(START + 10_000)) };
        let ids = node.run_later(&job, vec![given, later(DueTime::InSeconds(86_400))], None).await;
        node.round().await;
        assert!(node.runs(&job).await.is_empty() && node.is_scheduled(ids[0]).await, "it waits outside of the runs");
        node.advance(8_000).await;
        assert_eq!(node.states(&job).await, [RunState::Claimed], "recorded before it is due");
        assert!(executor.runs().is_empty(), "nothing is sent before its time");
        node.advance(2_000).await;
        assert_eq!(executor.runs().len(), 1);
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.cause, run.fire_no), (RunState::Running, Cause::Delayed, ids[0]));
        assert_eq!((run.scheduled_at, run.due_at), (START + 10_000, START + 10_000));
        assert_eq!(node.engine.runs().get(ids[0]).await.unwrap().id, run.id);
        assert_eq!(node.engine.runs().get(run.id).await.unwrap().params.as_deref(), Some("given"));
        assert!(node.is_scheduled(ids[1]).await);
    });
}

#[test]
fn one_that_is_due_now_is_not_late() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        node.round().await;
        node.run_later(&job, vec![later(DueTime::At(START - 60_000)), later(DueTime::InSeconds(0))], None).await;
        node.round().await;
        assert_eq!(executor.runs().len(), 2);
        assert!(node.runs(&job).await.iter().all(|run| run.due_at >= START));
    });
}

#[test]
fn a_key_that_is_repeated_finds_the_same_number_also_after_the_run() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let ask = async || node.run_later(&job, vec![later(DueTime::InSeconds(5))], Some("order-7")).await;
        let first = ask().await;
        assert_eq!(ask().await, first);
        node.advance(5_000).await;
        node.callback(&[(node.runs(&job).await[0].id, 200, "done")]).await;
        assert_eq!(ask().await, first);
        node.advance(10_000).await;
        assert_eq!((executor.runs().len(), node.states(&job).await), (1, vec![RunState::Succeeded]));
    });
}

#[test]
fn it_is_moved_and_cancelled_until_its_time_has_come() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let (moved, cancelled) = (node.in_seconds(&job, 5).await, node.in_seconds(&job, 5).await);
        node.engine.runs().move_scheduled(moved, START + 60_000, &actor()).await.unwrap();
        assert_eq!(node.engine.runs().kill(cancelled, &actor()).await.unwrap(), KillResult::Cancelled);
        node.advance(6_000).await;
        assert_eq!((executor.runs().len(), node.states(&job).await), (0, vec![RunState::Cancelled]));
        assert_eq!(node.engine.runs().kill(cancelled, &actor()).await.unwrap(), KillResult::AlreadyEnded);
        // Moved to a time that is near: the scan finds it at once.
        node.engine.runs().move_scheduled(moved, node.clock.now() + 1_000, &actor()).await.unwrap();
        node.advance(1_000).await;
        assert_eq!(executor.runs().len(), 1);
        let late = node.engine.runs().move_scheduled(moved, START + 90_000, &actor()).await;
        assert!(matches!(late, Err(Error::NotScheduled(RunState::Running))), "{late:?}");
        let run_id = node.engine.runs().get(moved).await.unwrap().id;
        assert!(run_id != moved && node.engine.runs().kill(moved, &actor()).await.unwrap() == KillResult::Asked);
    });
}

#[test]
fn one_that_is_late_runs_when_it_is_reached_unless_it_has_expired() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let expiring = |seconds| DelayedRun { expires_after_seconds: Some(seconds), ..later(DueTime::InSeconds(5)) };
        node.run_later(&job, vec![later(DueTime::InSeconds(5)), expiring(7_200), expiring(60)], None).await;
        // No node works for an hour.
        node.clock.advance(std::time::Duration::from_secs(3_600));
        node.register(executor).await;
        node.round().await;
        let mut told: Vec<(RunState, Option<String>)> =
            node.runs(&job).await.into_iter().map(|run| (run.state, run.reason)).collect();
        told.sort_by_key(|(state, _)| state.code());
        let running = (RunState::Running, None);
        assert_eq!(told, [running.clone(), running, (RunState::Cancelled, Some("misfire".into()))]);
        assert_eq!(executor.runs().len(), 2);
    });
}

#[test]
fn one_that_waits_too_long_after_its_release_is_cancelled() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let run = DelayedRun { expires_after_seconds: Some(10), ..later(DueTime::InSeconds(5)) };
        node.run_later(&job, vec![run, later(DueTime::InSeconds(5))], None).await;
        node.advance(3_000).await;
        assert_eq!(node.states(&job).await, [RunState::Claimed, RunState::Claimed]);
        let pause = PauseRequest { app_id: Some(node.app.id), note: "dark".into(), from: None, until: None };
        node.engine.pauses().create(pause, &actor()).await.unwrap();
        node.services.pause_refresher.step().await;
        node.advance(12_000).await;
        assert_eq!(node.states(&job).await, [RunState::Claimed, RunState::Claimed], "the last moment");
        node.advance(1_000).await;
        let mut told: Vec<(RunState, Option<String>)> =
            node.runs(&job).await.into_iter().map(|run| (run.state, run.reason)).collect();
        told.sort_by_key(|(state, _)| state.code());
        assert_eq!(told, [(RunState::Claimed, None), (RunState::Cancelled, Some("misfire".into()))]);
        assert!(executor.runs().is_empty());
    });
}

#[test]
fn it_takes_the_definition_that_its_job_has_when_it_is_sent_enabled_or_not() {
    with_registered_executor(async |node, executor| {
        let job = node.every(3_600, |draft| draft.params = "old".into()).await;
        node.in_seconds(&job, 5).await;
        let draft = JobDraft { params: "new".into(), ..job.draft.clone() };
        let job = node.edit(&job, draft).await;
        node.store.jobs().set_enabled(job.id, false, node.clock.now(), &actor()).await.unwrap();
        node.advance(5_000).await;
        let sent = executor.runs();
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].json()["executorParams"], "new");
    });
}

#[test]
fn it_waits_for_the_end_of_a_pause_of_its_app() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let id = node.in_seconds(&job, 5).await;
        let pause = PauseRequest { app_id: Some(node.app.id), note: "dark".into(), from: None, until: None };
        let pause = node.engine.pauses().create(pause, &actor()).await.unwrap();
        node.services.pause_refresher.step().await;
        node.advance(6_000).await;
        assert!(executor.runs().is_empty() && node.runs(&job).await.is_empty());
        assert!(node.is_scheduled(id).await, "it takes no place of a run");
        node.engine.pauses().end(pause.id, &actor()).await.unwrap();
        node.services.pause_refresher.step().await;
        node.register(executor).await;
        node.advance(2_000).await;
        assert_eq!(executor.runs().len(), 1);
    });
}

#[test]
fn triggers_of_a_paused_app_hold_up_no_other_app() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let pause = PauseRequest { app_id: Some(node.app.id), note: "dark".into(), from: None, until: None };
        let pause = node.engine.pauses().create(pause, &actor()).await.unwrap();
        node.services.pause_refresher.step().await;
        node.run_later(&job, vec![later(DueTime::InSeconds(1)); 1_000], None).await;
        node.advance(180_000).await;
        assert_eq!((node.services.dispatcher.queue.len(), node.runs(&job).await.len()), (0, 0));
        // They are found although they are older than what a scan looks back.
        node.engine.pauses().end(pause.id, &actor()).await.unwrap();
        node.services.pause_refresher.step().await;
        node.register(executor).await;
        node.renew_leases().await;
        assert_eq!(node.scan().await.did.released, 1_000);
    });
}

#[test]
fn of_a_deleted_job_nothing_is_left() {
    on_node(async |node| {
        let job = node.job(|_| ()).await;
        let id = node.in_seconds(&job, 5).await;
        node.engine.jobs().delete(job.id, &actor()).await.unwrap();
        node.advance(5_000).await;
        assert!(node.runs(&job).await.is_empty());
        assert!(matches!(node.engine.runs().find(id).await, Err(Error::Missing(_))));
    });
}

#[test]
fn a_backlog_of_triggers_holds_up_no_schedule() {
    with_registered_executor(async |node, _| {
        let job = node.job(|_| ()).await;
        let ticking = node.every(10, |_| ()).await;
        let at = |place: Millis| later(DueTime::At(START + 1_000 + place));
        node.run_later(&job, (0..1_000).map(at).collect(), None).await;
        node.run_later(&job, (0..1_000).map(at).collect(), None).await;
        node.clock.advance(std::time::Duration::from_secs(9));
        node.renew_leases().await;
        let did = node.scan().await.did;
        assert_eq!((did.released, did.claimed), (2_000, 1), "one round drains both");
        assert_eq!(node.states(&ticking).await, [RunState::Claimed]);
        assert_eq!(node.scan().await.did.released, 0);
    });
}

/// A node with one shard.
async fn alone(db: &TestDatabase, ring_capacity: usize) -> Node {
    let mut config = db.config();
    (config.shards, config.engine.ring_capacity) = (Some(1), ring_capacity);
    config.access_token = "0123456789-of-this-test".into();
    Node::on(config, Arc::new(ManualClock::new(START))).await
}

#[test]
fn a_job_that_another_session_holds_stops_no_other() {
    on(Kind::Postgres, async |db| {
        let node = alone(db, 1_000).await;
        let (held, ticking) = (node.job(|_| ()).await, node.every(10, |_| ()).await);
        node.in_seconds(&held, 5).await;
        node.in_seconds(&ticking, 5).await;
        node.renew_leases().await;
        node.clock.advance(std::time::Duration::from_secs(9));
        node.renew_leases().await;
        let beside = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let session = beside.begin().await.unwrap();
        let lock = format!("SELECT id FROM job WHERE id = {} FOR UPDATE", held.id);
        session.execute_unprepared(&lock).await.unwrap();
        let did = node.scan().await.did;
        assert_eq!((did.released, did.claimed), (1, 1));
        session.rollback().await.unwrap();
        assert_eq!(node.scan().await.did.released, 1);
    });
}

#[test]
fn triggers_leave_half_of_the_queue_to_schedules() {
    on(Kind::Sqlite, async |db| {
        let node = alone(db, 20).await;
        let (job, ticking) = (node.job(|_| ()).await, node.every(10, |_| ()).await);
        let at = |place: Millis| later(DueTime::At(START + 1_000 + place));
        node.run_later(&job, (0..1_000).map(at).collect(), None).await;
        node.renew_leases().await;
        node.clock.advance(std::time::Duration::from_secs(9));
        node.renew_leases().await;
        let did = node.scan().await.did;
        assert_eq!((did.released, did.claimed), (10, 1), "as many as half of the queue takes");
        assert_eq!(node.states(&ticking).await, [RunState::Claimed]);
        assert_eq!(node.scan().await.did.released, 0, "nothing has left");
    });
}

#[test]
fn one_that_is_late_waits_for_an_executor_like_any_other() {
    with_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        node.in_seconds(&job, 5).await;
        node.clock.advance(std::time::Duration::from_secs(3_600));
        node.round().await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.scheduled_at), (RunState::Claimed, START + 5_000), "it has not waited yet");
        assert_eq!(run.due_at, node.clock.now());
        node.register(executor).await;
        node.advance(500).await;
        assert_eq!(executor.runs().len(), 1);
    });
}
