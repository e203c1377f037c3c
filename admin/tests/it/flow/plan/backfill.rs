//! Runs for instants of the past.

use carillon_engine::manage::BackfillRange;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Cause, Clock as _, RunState, ScheduleDraft};
use carillon_store::Job;
use carillon_testkit::RecordingExecutor;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START, with_registered_executor};

/// A job each minute, by the wall clock; its schedule is paused, which a backfill does not mind.
fn flow(test: impl AsyncFnOnce(&Node, &RecordingExecutor, &Job)) {
    with_registered_executor(async |node, executor| {
        let job = node
            .job(|draft| {
                draft.schedule = ScheduleDraft::cron("0 * * * * ?", "UTC");
                draft.enabled = false;
            })
            .await;
        node.round().await;
        test(node, executor, &job).await;
    });
}

/// The range from `from` to `to` minutes before the last whole minute; START is 20 s past a minute.
fn minutes(job: &Job, from: i64, to: i64) -> BackfillRange {
    BackfillRange { job_id: job.id, from_at: START - 20_000 - from * 60_000, to_at: START - 20_000 - to * 60_000 }
}

async fn turn(node: &Node) {
    node.services.backfill_releaser.step().await;
    node.round().await;
}

async fn end_all(node: &Node, job: &Job) {
    for run in node.runs(job).await {
        if run.state == RunState::Running {
            node.callback(&[(run.id, 200, "")]).await;
        }
    }
}

// covers: 001-14
#[test]
fn a_day_of_a_job_each_minute_makes_1440_runs_and_none_twice() {
    flow(async |node, _, job| {
        let range = minutes(job, 1440, 0);
        let made = node.engine.backfills().create(range, 100, &actor()).await.unwrap();
        assert_eq!((made.instants, made.released), (1440, 0));
        // The executor accepts nothing here: each row is ended behind the program's back.
        for _ in 0..15 {
            node.services.backfill_releaser.step().await;
            node.sql("UPDATE run SET state = 9 WHERE cause = 4").await;
        }
        let done = node.store.backfills().get(made.id).await.unwrap().unwrap();
        assert_eq!((done.released, done.skipped), (1440, 0));
        assert!(done.finished_at.is_some() && !done.cancelled);
        let again = node.engine.backfills().create(minutes(job, 1450, 0), 100, &actor()).await.unwrap();
        for _ in 0..5 {
            node.services.backfill_releaser.step().await;
        }
        let done = node.store.backfills().get(again.id).await.unwrap().unwrap();
        assert_eq!((done.released, done.skipped), (10, 1440), "a second one makes what is missing");
    });
}

// covers: G16
#[test]
fn a_backfill_that_cannot_go_on_keeps_no_other_waiting() {
    flow(async |node, _, job| {
        let other = node
            .job(|draft| {
                draft.schedule = ScheduleDraft::cron("0 * * * * ?", "UTC");
                draft.enabled = false;
            })
            .await;
        let broken = node.engine.backfills().create(minutes(job, 3, 0), 100, &actor()).await.unwrap();
        let whole = node.engine.backfills().create(minutes(&other, 3, 0), 100, &actor()).await.unwrap();
        node.sql(&format!("UPDATE backfill_instant SET at = 'x' || at WHERE backfill_id = {}", broken.id)).await;
        node.services.backfill_releaser.step().await;
        let released = async |id: i64| node.store.backfills().get(id).await.unwrap().unwrap().released;
        assert_eq!((released(broken.id).await, released(whole.id).await), (0, 3));
    });
}

// covers: 6.22
#[test]
fn the_start_is_in_the_end_is_out_and_the_handler_sees_the_logical_instant() {
    flow(async |node, executor, job| {
        let range = minutes(job, 3, 0);
        let (instants, made) = node.engine.backfills().instants(range, &actor()).await.unwrap();
        let logical = [range.from_at, range.from_at + 60_000, range.from_at + 120_000];
        assert_eq!((instants.as_slice(), made.len()), (logical.as_slice(), 0));
        node.engine.backfills().create(range, 10, &actor()).await.unwrap();
        turn(node).await;
        let runs = node.runs(job).await;
        assert!(runs.iter().all(|run| run.cause == Cause::Backfill && run.state == RunState::Running));
        assert!(runs.iter().map(|run| run.scheduled_at).eq(logical));
        assert!(runs.iter().all(|run| run.due_at >= START), "sent now, not then");
        let sent: Vec<i64> =
            executor.runs().iter().map(|call| call.header("Carillon-Scheduled-At").unwrap().parse().unwrap()).collect();
        assert_eq!(sent.len(), 3);
        assert!(logical.iter().all(|at| sent.contains(at)));
    });
}

#[test]
fn it_keeps_its_pace_in_order_and_goes_on_when_a_run_ends() {
    flow(async |node, executor, job| {
        node.engine.backfills().create(minutes(job, 5, 0), 2, &actor()).await.unwrap();
        for _ in 0..3 {
            turn(node).await;
        }
        assert_eq!(node.states(job).await, [RunState::Running; 2], "no more than two at once");
        for released in [4, 5, 5] {
            end_all(node, job).await;
            turn(node).await;
            assert_eq!(node.runs(job).await.len(), released);
        }
        assert_eq!(node.states(job).await, [RunState::Succeeded; 5]);
        assert_eq!(executor.runs().len(), 5);
    });
}

#[test]
fn another_process_goes_on_where_a_dead_one_stopped() {
    flow(async |node, _, job| {
        let made = node.engine.backfills().create(minutes(job, 4, 0), 2, &actor()).await.unwrap();
        turn(node).await;
        end_all(node, job).await;
        let later = Node::restarted(node, node.config.clone(), node.clock.now() + 30_000).await;
        later.round().await;
        for _ in 0..4 {
            turn(&later).await;
            end_all(&later, job).await;
        }
        let done = later.store.backfills().get(made.id).await.unwrap().unwrap();
        assert_eq!((done.released, done.skipped, later.runs(job).await.len()), (4, 0, 4));
    });
}

#[test]
fn a_cancelled_one_and_one_of_a_deleted_job_stop() {
    flow(async |node, _, job| {
        let made = node.engine.backfills().create(minutes(job, 9, 0), 1, &actor()).await.unwrap();
        turn(node).await;
        let cancelled = node.store.backfills().cancel(made.id, START, &actor()).await.unwrap();
        assert!(cancelled.cancelled);
        end_all(node, job).await;
        turn(node).await;
        assert_eq!(node.runs(job).await.len(), 1);
        let other = node.engine.backfills().create(minutes(job, 9, 0), 1, &actor()).await.unwrap();
        node.store.jobs().delete(job.id, START, &actor()).await.unwrap();
        turn(node).await;
        assert!(node.store.backfills().get(other.id).await.unwrap().unwrap().cancelled);
        assert_eq!(node.store.backfills().open_backfills().await.unwrap(), []);
    });
}

#[test]
fn ranges_that_cannot_be_are_told() {
    flow(async |node, _, job| {
        let told = async |range: BackfillRange| {
            let error = node.engine.backfills().create(range, 1, &actor()).await.unwrap_err();
            error.to_string()
        };
        assert_eq!(told(minutes(job, 0, 0)).await, "to: must be later than `from`");
        assert!(told(minutes(job, 1, -5)).await.starts_with("to: must not lie in the future"));
        let far = BackfillRange { from_at: START - 71 * 86_400_000, ..minutes(job, 1, 0) };
        assert_eq!(told(far).await, "from: the range has more than 100000 instants; ask for it in parts");
        let none = BackfillRange { job_id: 1 << 30, ..minutes(job, 1, 0) };
        assert!(told(none).await.starts_with("there is no job "));
        let delay = node.job(|draft| draft.schedule = ScheduleDraft::fixed_delay(5)).await;
        assert!(told(minutes(&delay, 1, 0)).await.starts_with("schedule: a fixed delay has no instants"));
    });
}
