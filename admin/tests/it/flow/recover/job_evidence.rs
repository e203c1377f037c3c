//! A stock executor answers for a job, not for a run: which runs a sighting speaks of (the table in `engine`, `recover/check`).

use carillon_scheduler::{BlockStrategy, Outcome, RunState};
use carillon_store::{Actor, Job};
use carillon_testkit::{RecordingExecutor, Reply};
use serde_json::json;

use crate::flow::node::{Node, with_executor};
use crate::flow::recover::checks::{busy, live_for, run_of, state};
use crate::flow::recover::lost::{advance_seconds, log, refusal};

async fn job_with(node: &Node, block: BlockStrategy, timeout_seconds: i32) -> Job {
    node.job(|draft| {
        draft.block = block;
        draft.timeout_seconds = timeout_seconds;
    })
    .await
}

/// A run that is sent a second after the others.
async fn next_run(node: &Node, executor: &RecordingExecutor, job: &Job) -> i64 {
    node.advance(1_000).await;
    run_of(node, executor, job).await
}

/// The states of two runs of a job ten minutes after the later one has reported this, if it has.
async fn two_runs(
    node: &Node,
    executor: &RecordingExecutor,
    block: BlockStrategy,
    reported: Option<(i32, &str)>,
) -> (RunState, RunState) {
    let job = job_with(node, block, 0).await;
    let earlier = run_of(node, executor, &job).await;
    let later = next_run(node, executor, &job).await;
    if let Some((code, text)) = reported {
        node.callback(&[(later, code, text)]).await;
    }
    live_for(node, &[executor], 10 * 60).await;
    (state(node, earlier).await, state(node, later).await)
}

fn no_log() -> Reply {
    Reply::Body(json!({"code": 200, "content": null}).to_string())
}

// covers: D1
#[test]
fn an_executor_that_was_idle_has_no_earlier_run_when_a_later_one_keeps_it_busy() {
    with_executor(async |node, executor| {
        let job = job_with(node, BlockStrategy::Serial, 0).await;
        let lost = run_of(node, executor, &job).await;
        live_for(node, &[executor], 75).await;
        executor.reply_to_probes(busy());
        let healthy = next_run(node, executor, &job).await;
        live_for(node, &[executor], 120).await;
        let run = node.store.runs().get(lost).await.unwrap().unwrap();
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Unknown, Some("not_reported")));
        assert!(run.message().contains("has a later one now"), "{}", run.message());
        assert_eq!(state(node, healthy).await, RunState::Running);
    });
}

// covers: D1
#[test]
fn a_later_run_that_has_succeeded_shows_that_an_earlier_one_is_over_where_runs_follow_each_other() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", no_log());
        for (block, expected) in [
            (BlockStrategy::Serial, RunState::Unknown),
            (BlockStrategy::DiscardLater, RunState::Unknown),
            // xxljob-sdk-rs runs both side by side.
            (BlockStrategy::CoverEarly, RunState::Running),
        ] {
            let job = job_with(node, block, 0).await;
            let before = run_of(node, executor, &job).await;
            let lost = next_run(node, executor, &job).await;
            let after = next_run(node, executor, &job).await;
            node.callback(&[(before, 200, "done"), (after, 200, "done")]).await;
            live_for(node, &[executor], 10 * 60).await;
            assert_eq!(state(node, lost).await, expected, "{block:?}");
        }
    });
}

// covers: D1
#[test]
fn an_earlier_run_that_has_succeeded_says_nothing_of_a_later_one() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", no_log());
        for block in [BlockStrategy::Serial, BlockStrategy::DiscardLater] {
            let job = job_with(node, block, 0).await;
            let before = run_of(node, executor, &job).await;
            let run_id = next_run(node, executor, &job).await;
            node.callback(&[(before, 200, "done")]).await;
            live_for(node, &[executor], 10 * 60).await;
            assert_eq!(state(node, run_id).await, RunState::Running, "{block:?}");
        }
    });
}

// covers: D1
#[test]
fn a_run_that_was_accepted_under_discard_later_shows_that_an_earlier_one_is_over() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", no_log());
        for (block, expected) in [
            (BlockStrategy::DiscardLater, RunState::Unknown),
            // It waits in the queue.
            (BlockStrategy::Serial, RunState::Running),
        ] {
            let states = two_runs(node, executor, block, None).await;
            assert_eq!(states, (expected, RunState::Running), "{block:?}");
        }
    });
}

// covers: D2
#[test]
fn a_run_over_its_time_is_lost_without_a_kill_if_a_later_one_runs_there() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", log("begun\n", false));
        let job = job_with(node, BlockStrategy::Serial, 30).await;
        let over = run_of(node, executor, &job).await;
        live_for(node, &[executor], 75).await;
        let healthy = next_run(node, executor, &job).await;
        live_for(node, &[executor], 45).await;
        assert_eq!((state(node, over).await, state(node, healthy).await), (RunState::Lost, RunState::Running));
        assert!(executor.received("/kill").is_empty(), "it would end the healthy one");
        node.callback(&[(healthy, 200, "done")]).await;
        assert_eq!(state(node, healthy).await, RunState::Succeeded);
    });
}

// covers: D1
#[test]
fn a_later_run_that_reported_a_failure_shows_that_an_earlier_one_is_over_where_runs_wait_for_each_other() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", no_log());
        for (block, expected) in [
            (BlockStrategy::Serial, RunState::Unknown),
            // Some executors accept a run and report that they have discarded it.
            (BlockStrategy::DiscardLater, RunState::Running),
        ] {
            let states = two_runs(node, executor, block, Some((500, "no disk"))).await;
            assert_eq!(states, (expected, RunState::Failed), "{block:?}");
        }
    });
}

// covers: D1
#[test]
fn a_later_run_proves_the_end_of_an_earlier_one_whatever_its_executor_answers_to_idle_beat() {
    with_executor(async |node, executor| {
        executor.reply_to("/log", no_log());
        for reply in [Reply::Status(404), Reply::Status(502), refusal("XXL-JOB idleBeat callback is not configured")] {
            executor.reply_to_probes(reply);
            let job = job_with(node, BlockStrategy::Serial, 0).await;
            let lost = run_of(node, executor, &job).await;
            let after = next_run(node, executor, &job).await;
            let last = next_run(node, executor, &job).await;
            node.callback(&[(after, 200, "done")]).await;
            live_for(node, &[executor], 10 * 60).await;
            assert_eq!((state(node, lost).await, state(node, last).await), (RunState::Unknown, RunState::Running));
        }
        let metrics = node.metrics();
        assert!(metrics.contains("carillon_alarms_total{kind=\"stuck\"} 1"), "the executor is told of once: {metrics}");
    });
}

// covers: D1
#[test]
fn a_later_run_of_a_schedule_is_found_however_many_runs_of_other_jobs_lie_between() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", no_log());
        node.register(executor).await;
        let job = node.every(60, |draft| draft.block = BlockStrategy::Serial).await;
        live_for(node, &[executor], 75).await;
        let first = node.runs(&job).await[0].id;
        // As if a million runs of other jobs had been made meanwhile.
        let lost = first - 1_000_000;
        node.sql(&format!("UPDATE run SET id = {lost} WHERE id = {first}")).await;
        for _ in 0..10 {
            live_for(node, &[executor], 60).await;
            for run in node.runs(&job).await.iter().filter(|run| run.state == RunState::Running && run.id != lost) {
                node.callback(&[(run.id, 200, "done")]).await;
            }
        }
        assert_eq!(state(node, lost).await, RunState::Unknown);
    });
}

// covers: D1
#[test]
fn a_later_run_that_a_person_has_resolved_says_nothing_of_an_earlier_one() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", no_log());
        for outcome in [Outcome::Succeeded, Outcome::Failed] {
            let job = job_with(node, BlockStrategy::Serial, 0).await;
            let at_work = run_of(node, executor, &job).await;
            executor.reply_to("/run", Reply::Cut);
            node.advance(1_000).await;
            let later = node.fire(&job).await;
            node.round().await;
            node.resolve_later().await;
            node.drain().await;
            executor.reply_to("/run", Reply::Accept);
            assert_eq!(state(node, later).await, RunState::Unknown);
            node.engine.runs().resolve(later, outcome, "seen in its database", &Actor::engine()).await.unwrap();
            live_for(node, &[executor], 10 * 60).await;
            assert_eq!(state(node, at_work).await, RunState::Running, "{outcome:?}");
        }
    });
}

// covers: D2
#[test]
fn a_run_over_its_time_is_not_killed_while_a_later_one_may_have_reached_its_executor() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", log("begun\n", false));
        let job = job_with(node, BlockStrategy::Serial, 30).await;
        let over = run_of(node, executor, &job).await;
        live_for(node, &[executor], 75).await;
        node.register(executor).await;
        advance_seconds(node, 12).await;
        // It arrives, and the answer does not.
        executor.reply_to("/run", Reply::Cut);
        let healthy = node.fire(&job).await;
        node.round().await;
        assert_eq!(state(node, healthy).await, RunState::Sending);
        advance_seconds(node, 9).await;
        assert_eq!((state(node, over).await, state(node, healthy).await), (RunState::Running, RunState::Sending));
        assert!(executor.received("/kill").is_empty(), "it would end both");
        node.resolve_later().await;
        live_for(node, &[executor], 30).await;
        assert_eq!((state(node, over).await, state(node, healthy).await), (RunState::Lost, RunState::Running));
        assert!(executor.received("/kill").is_empty());
    });
}
