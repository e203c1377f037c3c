//! A node that is killed after each of the three commits, and what the next one on its database makes of it.
//!
//! The first node lives in a runtime of its own. When that is gone all its tasks are, wherever they waited, and the lock
//! on its file with them.

use std::sync::Arc;
use std::time::Duration;

use carillon_admin::config::Config;
use carillon_engine::runtime::Service;
use carillon_scheduler::{ManualClock, Millis, RunState, ScheduleDraft};
use carillon_store::Job;
use carillon_testkit::{RecordingExecutor, Reply, wait_for};
use serde_json::json;

use crate::flow::node::{Node, START};
use crate::services::{Kind, on, runtime};

const DUE: Millis = START + 10_000;

/// What the first node leaves behind.
struct Left {
    config: Config,
    job: Job,
    run_id: i64,
}

/// Lives until the end of `life`, and not an instant longer.
fn a_node_that_dies(mut config: Config, retries: i32, life: impl AsyncFnOnce(&Node, &Job) + Send + 'static) -> Left {
    let thread = std::thread::spawn(move || {
        let runtime = runtime();
        let left = runtime.block_on(async {
            config.shards = Some(1);
            let node = Node::on(config.clone(), Arc::new(ManualClock::new(DUE - 2_000))).await;
            config.access_token.clone_from(&node.config.access_token);
            let change = |draft: &mut carillon_scheduler::JobDraft| {
                draft.schedule = ScheduleDraft::once(DUE);
                draft.retries = retries;
            };
            let job = node.job(change).await;
            node.renew_leases().await;
            node.scan().await;
            let run_id = node.runs(&job).await[0].id;
            life(&node, &job).await;
            Left { config, job, run_id }
        });
        runtime.shutdown_background();
        left
    });
    thread.join().unwrap()
}

/// The same, so late that the lease of the first one is over.
async fn the_next(left: &Left) -> Node {
    let mut config = left.config.clone();
    config.shards = None;
    let clock = Arc::new(ManualClock::new(DUE + 15_000));
    // The lock of the file goes when the last task of the dead runtime has gone.
    wait_for("the file is free", || async {
        carillon_admin::Admin::build(config.clone(), clock.clone()).await.is_ok()
    })
    .await;
    Node::on(config, clock).await
}

async fn asked(node: &Node) {
    node.renew_leases().await;
    node.services.resolver.step().await;
    node.drain().await;
}

async fn state(node: &Node, job: &Job) -> Vec<(RunState, i32, i32)> {
    let runs = node.runs(job).await;
    runs.iter().map(|run| (run.state, run.attempt, run.sends)).collect()
}

/// Up to the mark, which is committed 150 ms before the request may leave.
async fn mark(node: &Node, executor: (&str, Option<&str>)) {
    node.register_address(executor.0, executor.1).await;
    node.clock.set(DUE - 150);
    node.dispatch().await;
}

// covers: H9, 000-6, 000-14, 002-16, 003-23
#[test]
fn after_the_claim_the_run_is_known_not_sent_and_is_sent_once() {
    on(Kind::Sqlite, async |db| {
        let executor = RecordingExecutor::start().await;
        let left = a_node_that_dies(db.config(), 0, async |node, job| {
            assert_eq!(node.states(job).await, [RunState::Claimed]);
        });
        let node = the_next(&left).await;
        node.register(&executor).await;
        node.round().await;
        assert_eq!(state(&node, &left.job).await, [(RunState::Running, 1, 1)]);
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(executor.runs()[0].run_id(), left.run_id);
    });
}

// covers: H10, I2
#[test]
fn after_the_mark_the_outcome_is_unknown_and_the_run_is_never_sent_to_a_stock_executor() {
    on(Kind::Sqlite, async |db| {
        let executor = RecordingExecutor::start().await;
        let address = executor.address.clone();
        let left = a_node_that_dies(db.config(), 0, async move |node, job| {
            mark(node, (&address, None)).await;
            assert_eq!(node.states(job).await, [RunState::Sending]);
        });
        let node = the_next(&left).await;
        executor.reply_to("/log", Reply::Status(404));
        node.register(&executor).await;
        asked(&node).await;
        node.round().await;
        assert_eq!(state(&node, &left.job).await, [(RunState::Unknown, 1, 1)]);
        assert!(executor.runs().is_empty());
    });
}

// covers: H10
#[test]
fn after_the_mark_a_job_that_allows_it_is_tried_again_in_a_row_of_its_own() {
    on(Kind::Sqlite, async |db| {
        let executor = RecordingExecutor::start().await;
        let address = executor.address.clone();
        let left = a_node_that_dies(db.config(), 1, async move |node, _| {
            mark(node, (&address, None)).await;
        });
        let node = the_next(&left).await;
        executor.reply_to("/log", Reply::Status(404));
        node.register(&executor).await;
        asked(&node).await;
        node.advance(10_000).await;
        let expected = [(RunState::Unknown, 1, 1), (RunState::Running, 2, 1)];
        assert_eq!(state(&node, &left.job).await, expected);
        let [only] = &executor.runs()[..] else { panic!("once") };
        assert_ne!(only.run_id(), left.run_id);
    });
}

// covers: H10
#[test]
fn after_the_mark_an_executor_with_a_journal_gets_the_very_run() {
    on(Kind::Sqlite, async |db| {
        let executor = RecordingExecutor::start().await;
        let address = executor.address.clone();
        let left = a_node_that_dies(db.config(), 0, async move |node, _| {
            mark(node, (&address, Some("boot-1"))).await;
        });
        let node = the_next(&left).await;
        node.register_own(&executor, "boot-1").await;
        asked(&node).await;
        assert_eq!(state(&node, &left.job).await, [(RunState::Running, 1, 2)]);
        let sent_at = node.runs(&left.job).await[0].sent_at;
        assert_eq!(sent_at, Some(DUE), "not when it was marked, ahead of its time");
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(executor.runs()[0].run_id(), left.run_id);
    });
}

// covers: H11
#[test]
fn after_the_answer_the_log_or_the_callback_tells() {
    on(Kind::Sqlite, async |db| {
        let executor = RecordingExecutor::start().await;
        let address = executor.address.clone();
        let left = a_node_that_dies(db.config(), 0, async move |node, _| {
            // Accepted, and nothing of it is written: that comes with the next step of `complete`.
            live_until(After::Answer, node, &address).await;
        });
        assert_eq!(executor.runs().len(), 1);
        let node = the_next(&left).await;
        let page = json!({"fromLineNum": 1, "toLineNum": 1, "logContent": "begun", "isEnd": false});
        executor.reply_to("/log", Reply::Body(json!({"code": 200, "content": page}).to_string()));
        node.register(&executor).await;
        asked(&node).await;
        assert_eq!(state(&node, &left.job).await, [(RunState::Running, 1, 1)]);
        node.callback(&[(left.run_id, 200, "done")]).await;
        assert_eq!(state(&node, &left.job).await, [(RunState::Succeeded, 1, 1)]);
        assert_eq!(executor.runs().len(), 1);
    });
}

// covers: H13
#[test]
fn after_the_result_a_repeated_callback_changes_nothing() {
    on(Kind::Sqlite, async |db| {
        let executor = RecordingExecutor::start().await;
        let address = executor.address.clone();
        let left = a_node_that_dies(db.config(), 0, async move |node, job| {
            node.register_address(&address, None).await;
            node.clock.set(DUE);
            node.dispatch().await;
            node.drain().await;
            let run_id = node.runs(job).await[0].id;
            node.callback(&[(run_id, 200, "done")]).await;
        });
        let node = the_next(&left).await;
        let before = node.runs(&left.job).await;
        assert_eq!(before[0].state, RunState::Succeeded);
        let answer = node.callback(&[(left.run_id, 500, "another story")]).await;
        assert_eq!(answer["code"], 200);
        node.clock.advance(Duration::from_secs(1));
        node.round().await;
        assert_eq!(node.runs(&left.job).await, before);
    });
}

#[derive(Clone, Copy, Debug)]
enum After {
    Claim,
    Mark,
    Answer,
    Result,
}

async fn live_until(after: After, node: &Node, address: &str) {
    if matches!(after, After::Mark) {
        mark(node, (address, None)).await;
    }
    if matches!(after, After::Answer | After::Result) {
        node.register_address(address, None).await;
        node.clock.set(DUE);
        node.dispatch().await;
        wait_for("the request was answered", || async { node.engine.is_idle_but_accepted() }).await;
    }
}

/// There: what was done and that it was done were not written together, and after a crash it was done again, without a word.
// covers: 001-23, 003-23, 004-8, I2
#[test]
fn wherever_a_node_dies_each_delivery_has_a_row_with_attempt_and_reason() {
    // Requests, and the reason why there had to be a second attempt.
    let stories = [
        (After::Claim, 1, None),
        (After::Mark, 1, Some("unknown")),
        (After::Answer, 2, Some("unknown")),
        (After::Result, 2, Some("result")),
    ];
    for (after, requests, reason) in stories {
        on(Kind::Sqlite, async |db| {
            let executor = RecordingExecutor::start().await;
            let address = executor.address.clone();
            let left = a_node_that_dies(db.config(), 2, async move |node, job| {
                live_until(after, node, &address).await;
                if matches!(after, After::Result) {
                    let run_id = node.runs(job).await[0].id;
                    node.callback(&[(run_id, 500, "no")]).await;
                }
            });
            let node = the_next(&left).await;
            executor.reply_to("/log", Reply::Status(404));
            for _ in 0..4 {
                node.register(&executor).await;
                asked(&node).await;
                node.advance(10_000).await;
            }
            let runs = node.runs(&left.job).await;
            let first = runs.iter().filter(|run| run.attempt == 1).count();
            assert_eq!(first, 1, "{after:?}: the fire is recorded once");
            let attempts: Vec<i32> = runs.iter().map(|run| run.attempt).collect();
            assert_eq!(attempts, [1, 2][..1 + usize::from(reason.is_some())]);
            assert!(runs.iter().all(|run| run.fire_no == DUE));
            if reason.is_some() {
                assert_eq!(runs[0].reason.as_deref(), reason, "{after:?}");
            }
            let mut received: Vec<i64> = executor.runs().iter().map(|it| it.run_id()).collect();
            assert_eq!(received.len(), requests, "{after:?}");
            received.dedup();
            assert_eq!(received.len(), requests, "each under a row of its own");
        });
    }
}
