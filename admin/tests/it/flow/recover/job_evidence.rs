//! A stock executor answers for a job, not for a run: which runs a sighting speaks of (the table in `engine`, `recover/check`).

use carillon_scheduler::{BlockStrategy, RunState};
use carillon_store::Job;
use carillon_testkit::{RecordingExecutor, Reply};
use serde_json::json;

use crate::flow::node::{Node, with_executor};
use crate::flow::recover::checks::{busy, live_for, run_of, state};
use crate::flow::recover::lost::log;

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
            let job = job_with(node, block, 0).await;
            let lost = run_of(node, executor, &job).await;
            let after = next_run(node, executor, &job).await;
            live_for(node, &[executor], 10 * 60).await;
            assert_eq!((state(node, lost).await, state(node, after).await), (expected, RunState::Running), "{block:?}");
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
