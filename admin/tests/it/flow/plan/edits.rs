//! Changes of a job inside the look-ahead, with the engine and an executor looking on.

use std::time::Duration;

use carillon_scheduler::{Clock as _, JobDraft, RunState, ScheduleDraft};
use carillon_store::{Definition, RunView};
use carillon_testkit::RecordingExecutor;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START};
use crate::services::{Kind, on};

/// A job that fires each 10 s, and whose next instant (10 s after the start) is claimed and in the ring.
async fn claimed(test: impl AsyncFnOnce(&Node, &RecordingExecutor, carillon_store::Job)) {
    let node = Node::start().await;
    let executor = RecordingExecutor::start().await;
    node.register(&executor).await;
    let job = node.every(10, |_| {}).await;
    node.round().await;
    node.advance(9_000).await;
    assert_eq!(node.states(&job).await, [RunState::Claimed]);
    test(&node, &executor, job).await;
}

// covers: 001-15
#[test]
fn disabled_200_ms_before_a_fire_the_executor_is_not_called() {
    on(Kind::Sqlite, async |_| {
        claimed(async |node, executor, job| {
            node.clock.advance(Duration::from_millis(800));
            let now = node.clock.now();
            assert_eq!(now, START + 9_800);
            let job = node.store.jobs().set_enabled(job.id, false, now, &actor()).await.unwrap();
            node.engine.job_changed(job.shard);
            node.advance(200).await;
            node.advance(30_000).await;
            assert_eq!(executor.runs().len(), 0);
            let runs = node.runs(&job).await;
            assert_eq!(runs.len(), 1);
            assert_eq!((runs[0].state, runs[0].reason.as_deref()), (RunState::Cancelled, Some("disabled")));
            assert_eq!(runs[0].message(), "The job was paused before it was sent.");
        })
        .await;
    });
}

// covers: 000-4
#[test]
fn after_an_edit_no_fire_of_the_old_schedule_is_sent() {
    on(Kind::Sqlite, async |_| {
        claimed(async |node, executor, job| {
            let now = node.clock.now();
            let schedule = ScheduleDraft::cron("3/20 * * * * ?", "UTC");
            let draft = JobDraft { schedule, params: "new".into(), ..job.draft.clone() };
            let definition = Definition::check(&node.app, &draft, now).unwrap();
            let job = node.store.jobs().update(job.id, &definition, None, now, &actor()).await.unwrap();
            node.engine.job_changed(job.shard);
            let first = job.next_fire_at.unwrap();
            assert_ne!(first, START + 10_000);
            for _ in 0..30 {
                node.advance(1_000).await;
            }
            let sent: Vec<_> = executor.runs().iter().map(|run| run.json()["logDateTime"].as_i64().unwrap()).collect();
            assert_eq!(
                sent,
                [first, first + 20_000].into_iter().filter(|at| *at <= START + 39_000).collect::<Vec<_>>()
            );
            assert!(executor.runs().iter().all(|run| run.json()["executorParams"] == "new"));
        })
        .await;
    });
}

#[test]
fn a_job_deleted_inside_the_look_ahead_is_not_sent() {
    on(Kind::Sqlite, async |_| {
        claimed(async |node, executor, job| {
            node.store.jobs().delete(job.id, node.clock.now(), &actor()).await.unwrap();
            node.engine.job_changed(job.shard);
            node.advance(1_000).await;
            node.advance(30_000).await;
            assert_eq!(executor.runs().len(), 0);
            let runs = node.runs(&job).await;
            assert_eq!((runs.len(), runs[0].reason.as_deref()), (1, Some("deleted")));
        })
        .await;
    });
}

#[test]
fn enabled_again_inside_the_look_ahead_the_instant_is_sent_once() {
    on(Kind::Sqlite, async |_| {
        claimed(async |node, executor, job| {
            let now = node.clock.now();
            for enabled in [false, true, false, true] {
                let job = node.store.jobs().set_enabled(job.id, enabled, now, &actor()).await.unwrap();
                node.engine.job_changed(job.shard);
            }
            node.round().await;
            node.advance(1_000).await;
            assert_eq!(executor.runs().len(), 1);
            let runs = node.runs(&job).await;
            assert_eq!((runs.len(), runs[0].state, runs[0].scheduled_at), (1, RunState::Running, START + 10_000));
        })
        .await;
    });
}

/// There: tasks were made for two hours ahead, and a timer could not be changed.
// covers: 001-10
#[test]
fn what_an_edit_takes_away_lies_inside_the_look_ahead() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let mut job = node.every(1, |_| {}).await;
        let rare = node.every(3_600, |_| {}).await;
        let mut taken = 0;
        for second in 1..=40 {
            node.advance(1_000).await;
            let (now, before) = (node.clock.now(), node.runs(&job).await);
            let ahead = now..=now + 5_000;
            assert!(before.iter().all(|run| run.scheduled_at <= *ahead.end()));
            if second % 4 != 0 {
                continue;
            }
            let schedule = ScheduleDraft::fixed_rate(1 + second % 3);
            let draft = JobDraft { schedule, ..job.draft.clone() };
            job = node.edit(&job, draft).await;
            let after = node.runs(&job).await;
            let is_gone = |run: &&RunView| after.iter().all(|kept| kept.id != run.id);
            let gone: Vec<_> = before.iter().filter(is_gone).collect();
            assert!(gone.iter().all(|run| ahead.contains(&run.scheduled_at)), "{gone:?}");
            taken += gone.len();
        }
        assert!(taken > 10, "they did take something away: {taken}");
        let renamed = JobDraft { name: "rarely".into(), ..rare.draft.clone() };
        let rare = node.edit(&rare, renamed).await;
        assert_eq!(node.runs(&rare).await, [], "an hour ahead nothing was ever recorded");
    });
}
