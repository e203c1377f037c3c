//! Runs whose request may or may not have arrived: the executor is asked before the outcome is called unknown.

use carillon_scheduler::RunState;
use carillon_store::Job;
use carillon_testkit::{RecordingExecutor, Reply};
use serde_json::json;

use crate::flow::node::{Node, with_executor};

/// The time in which an answer may come is over, and it is asked.
async fn ask(node: &Node) {
    node.resolve_later().await;
    node.drain().await;
}

/// A run whose request ended in a page of a proxy.
async fn doubtful(node: &Node, executor: &RecordingExecutor) -> (Job, i64) {
    executor.reply(Reply::Status(502));
    let job = node.job(|_| ()).await;
    let run_id = node.fire(&job).await;
    node.round().await;
    assert_eq!(node.states(&job).await, [RunState::Sending]);
    (job, run_id)
}

fn log(to_line: i32, content: &str) -> Reply {
    let page = json!({"fromLineNum": 1, "toLineNum": to_line, "logContent": content, "isEnd": false});
    Reply::Body(json!({"code": 200, "content": page, "data": page}).to_string())
}

// covers: H10
#[test]
fn an_executor_with_a_journal_is_sent_the_same_run_again() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let (job, run_id) = doubtful(node, executor).await;
        executor.reply(Reply::Accept);
        node.register_own(executor, "boot-1").await;
        ask(node).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.sends, run.attempt), (RunState::Running, 2, 1));
        let got = executor.runs();
        assert_eq!(got.len(), 2);
        assert!(got.iter().all(|request| request.run_id() == run_id));
        assert_eq!(got[0].header("Carillon-Fire-Key"), got[1].header("Carillon-Fire-Key"));
        assert_eq!(got[0].body, got[1].body, "the same run, to the last member");
        let limit = |n: usize| -> i64 { got[n].header("Carillon-Not-After").unwrap().parse().unwrap() };
        assert!(limit(1) > limit(0), "and a new limit of time");
        assert!(node.metrics().contains("carillon_resends_total 1"));
    });
}

// covers: H10
#[test]
fn what_its_executor_has_refused_meanwhile_is_no_longer_in_doubt() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let (job, _) = doubtful(node, executor).await;
        executor.reply(Reply::Body(json!({"code": 500, "msg": "expired"}).to_string()));
        ask(node).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("refused")));
    });
}

// covers: H24
#[test]
fn an_executor_that_answers_nothing_is_not_asked_for_ever() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let (job, _) = doubtful(node, executor).await;
        for _ in 0..3 {
            assert_eq!(node.states(&job).await, [RunState::Sending]);
            node.register_own(executor, "boot-1").await;
            ask(node).await;
        }
        node.register_own(executor, "boot-1").await;
        ask(node).await;
        assert_eq!(node.states(&job).await, [RunState::Unknown]);
        assert_eq!(executor.runs().len(), 4);
    });
}

// covers: H10
#[test]
fn an_executor_that_is_away_is_waited_for_while_its_lease_lasts() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let (job, _) = doubtful(node, executor).await;
        executor.die().await;
        ask(node).await;
        assert_eq!(node.states(&job).await, [RunState::Sending]);
        for _ in 0..4 {
            ask(node).await;
        }
        assert_eq!(node.states(&job).await, [RunState::Unknown]);
    });
}

// covers: H10
#[test]
fn the_log_of_any_other_executor_is_a_witness() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        executor.reply_to("/log", log(2, "begun\nworking\n"));
        let (job, run_id) = doubtful(node, executor).await;
        ask(node).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        assert_eq!(executor.runs().len(), 1, "it is never sent twice");
        let asked = executor.received("/log")[0].json();
        let due_at = node.runs(&job).await[0].due_at;
        assert_eq!(
            (asked["logId"].as_i64(), asked["logDateTim"].as_i64()),
            (Some(run_id), Some(due_at)),
            "it finds its file by both"
        );
    });
}

// covers: H10
#[test]
fn a_log_that_is_not_there_yet_proves_nothing() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        executor.reply_to("/log", log(0, "readLog fail, logFile not exists"));
        let (job, run_id) = doubtful(node, executor).await;
        ask(node).await;
        assert_eq!(node.states(&job).await, [RunState::Unknown]);
        node.callback(&[(run_id, 200, "it was in a queue")]).await;
        assert_eq!(node.states(&job).await, [RunState::Succeeded]);
        assert_eq!(executor.runs().len(), 1);
    });
}

// covers: H10
#[test]
fn a_run_that_is_answered_with_a_redirect_was_not_started() {
    with_executor(async |node, executor| {
        for boot_id in [None, Some("boot-1")] {
            node.register_address(&executor.address, boot_id).await;
            executor.reply(Reply::Status(301));
            let job = node.job(|_| ()).await;
            node.fire(&job).await;
            node.round().await;
            let run = &node.runs(&job).await[0];
            assert_eq!(
                (run.state, run.reason.as_deref(), run.result_code),
                (RunState::Failed, Some("refused"), Some(301))
            );
            assert!(run.message().contains("HTTP 301"), "{}", run.message());
        }
    });
}
