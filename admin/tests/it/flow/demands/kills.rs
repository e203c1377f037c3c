//! Demand 30: an executor that agrees to a kill has ended nothing yet.

use carillon_engine::manage::KillResult;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::RunState;
use carillon_store::Actor;
use serde_json::json;

use super::published::{Published, accepted, go, json_type};
use super::raw::{report, token};
use crate::flow::node::{Node, on_node};

fn result(run: i64, code: i32, text: &str) -> String {
    format!(r#"[{{"logId":{run},"logDateTim":1,"handleCode":{code},"handleMsg":"{text}"}}]"#)
}

#[test]
fn a_kill_is_over_when_its_end_is_reported_and_a_later_result_changes_nothing() {
    on_node(async |node| {
        // pyxxl and pyxxljob agree at once, and report the end of the run as this failure.
        let executor = Published::always(json_type(&accepted())).await;
        executor.register(node).await;
        let job = node.job(|_| ()).await;
        let run = node.fire(&job).await;
        node.round().await;
        assert_eq!(node.engine.runs().kill(run, &Actor::engine()).await.unwrap(), KillResult::Asked);
        assert_eq!(node.states(&job).await, [RunState::Running], "asked is not ended");
        for body in [result(run, 500, "CancelledError"), result(run, 200, "done")] {
            assert!(report(node, &[&token(node)], &body).await.is_success());
            let run = &node.runs(&job).await[0];
            assert_eq!((run.state, run.message().as_str()), (RunState::Killed, "CancelledError"));
        }
    });
}

#[test]
fn a_kill_that_go_refuses_leaves_its_run_as_it_is() {
    on_node(async |node| {
        let executor = Published::start(|path, _| match path {
            "/kill" => go(&json!({"code": 500, "msg": null})),
            _ => go(&accepted()),
        })
        .await;
        executor.register(node).await;
        let job = node.job(|_| ()).await;
        let run = node.fire(&job).await;
        node.round().await;
        let refused = node.engine.runs().kill(run, &Actor::engine()).await.unwrap_err().to_string();
        assert!(refused.contains("refuses: code 500 without a reason"), "{refused}");
        assert_eq!(node.states(&job).await, [RunState::Running]);
        assert!(report(node, &[&token(node)], &result(run, 500, "it failed")).await.is_success());
        assert_eq!(node.states(&job).await, [RunState::Failed], "no kill was agreed to, so none has ended it");
    });
}

/// Three seconds, in which the executor sends a heartbeat and the node looks after its runs.
async fn three_seconds(node: &Node, executor: &Published) {
    executor.register(node).await;
    node.advance(3_000).await;
    node.services.monitor.step().await;
    node.drain().await;
}

#[test]
fn a_kill_whose_end_is_never_reported_is_unconfirmed_after_30_s_and_a_later_result_changes_nothing() {
    on_node(async |node| {
        // xxljob-sdk-rs agrees and does nothing; here the handler has ended, so the job is idle.
        let executor = Published::always(json_type(&accepted())).await;
        executor.register(node).await;
        let job = node.job(|_| ()).await;
        let run = node.fire(&job).await;
        node.round().await;
        node.engine.runs().kill(run, &Actor::engine()).await.unwrap();
        for _ in 0..9 {
            three_seconds(node, &executor).await;
        }
        assert_eq!(node.states(&job).await, [RunState::Running], "27 s");
        for _ in 0..8 {
            three_seconds(node, &executor).await;
        }
        let unconfirmed = async || {
            let run = &node.runs(&job).await[0];
            assert_eq!((run.state, run.reason.as_deref()), (RunState::Killed, Some("unconfirmed")), "51 s");
        };
        unconfirmed().await;
        assert!(report(node, &[&token(node)], &result(run, 200, "done")).await.is_success());
        unconfirmed().await;
    });
}
