//! Which nodes run, and in which order.

use carillon_scheduler::{Cause, RetryDelay, RunState};
use serde_json::json;

use crate::flow::node::with_registered_executor;
use crate::flow::workflows::steps::Steps;

// covers: 004-9
#[test]
fn nodes_run_one_after_the_other_and_hand_on_their_results_by_name() {
    with_registered_executor(async |node, executor| {
        let nodes = json!({
            "extract": {"params": "{{workflow.params}} of {{workflow.run_id}}"},
            "check": {"after": ["extract"]},
            "load": {"after": ["check"], "params": "{{nodes.extract.result#/file}} {{nodes.check.state}}"},
        });
        let steps = Steps::new(node, nodes, |draft| draft.params = "orders".into()).await;
        let run_id = steps.fire().await;
        let held = steps.workflow_run(run_id).await;
        assert_eq!((held.state, held.sends, held.address), (RunState::Running, 0, None), "no executor has it");
        let extract = steps.run("extract").await;
        assert_eq!((extract.cause, extract.fire_no), (Cause::Node, run_id * 1024 + 1));
        assert_eq!(extract.scheduled_at, held.scheduled_at, "nodes inherit the instant of the workflow");
        let params = || executor.runs().pop().unwrap().json()["executorParams"].as_str().unwrap().to_owned();
        assert_eq!(params(), format!("orders of {run_id}"));
        assert_eq!(steps.states(run_id).await, "check waiting, extract running, load waiting");
        assert_eq!(steps.why(run_id, "check").await, "waits for extract");
        steps.end("extract", 200, r#"{"file":"a.csv"}"#).await;
        assert_eq!(params(), r#"{"file":"a.csv"}"#, "without parameters of its own it takes the result");
        steps.end("check", 200, "").await;
        assert_eq!(params(), "a.csv succeeded");
        // The executor repeats it, as one whose first answer was lost.
        let check = steps.run("check").await.id;
        node.callback(&[(check, 200, "")]).await;
        assert_eq!(steps.runs("load").await, 1);
        steps.end("load", 200, "12 rows").await;
        let ended = steps.workflow_run(run_id).await;
        assert_eq!((ended.state, ended.result_msg.as_deref()), (RunState::Succeeded, Some("12 rows")));
    });
}

// covers: 004-10
#[test]
fn a_join_behind_a_branch_that_was_not_taken_runs_once_when_all_before_it_have_ended() {
    with_registered_executor(async |node, _| {
        let nodes = json!({
            "check": {},
            "full": {"after": [{"node": "check", "when": [{"path": "/rows", "gt": 0}]}]},
            "empty": {"after": [{"node": "check", "when": [{"path": "/rows", "eq": 0}]}]},
            "report": {"after": ["full", "empty"]},
        });
        let steps = Steps::new(node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        steps.end("check", 200, r#"{"rows":3}"#).await;
        assert_eq!(steps.states(run_id).await, "check succeeded, empty skipped, full running, report waiting");
        assert_eq!(steps.why(run_id, "empty").await, "branch not taken: /rows is 3");
        steps.end("full", 200, "").await;
        steps.end("report", 200, "").await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Succeeded);
        assert_eq!(steps.runs("report").await, 1);
    });
}

#[test]
fn one_failed_branch_stops_no_other_and_its_handler_does_not_make_the_run_green() {
    with_registered_executor(async |node, _| {
        let nodes = json!({
            "left": {}, "right": {},
            "after-left": {"after": ["left"]},
            "alarm": {"after": [{"node": "left", "on": "failure"}]},
            "after-right": {"after": ["right"]},
            "cleanup": {"after": [{"node": "after-left", "on": "always"}, {"node": "after-right", "on": "always"}]},
        });
        let steps = Steps::new(node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        steps.end("left", 500, "disk full").await;
        assert_eq!(
            steps.states(run_id).await,
            "after-left upstream_failed, after-right waiting, alarm running, cleanup waiting, left failed, right running"
        );
        steps.end("alarm", 200, "").await;
        steps.end("right", 200, "").await;
        steps.end("after-right", 200, "").await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Running, "its cleanup runs");
        steps.end("cleanup", 200, "").await;
        let ended = steps.workflow_run(run_id).await;
        assert_eq!((ended.state, ended.reason.as_deref()), (RunState::Failed, Some("node")));
        assert_eq!(ended.result_msg.as_deref(), Some("left: disk full; 1 node was not run"));
    });
}

#[test]
fn retries_of_a_node_come_before_what_follows_from_its_failure() {
    with_registered_executor(async |node, _| {
        let steps = Steps::new(node, json!({"a": {}, "b": {"after": ["a"]}}), |_| ()).await;
        let mut draft = steps.job("a").draft.clone();
        draft.retries = 1;
        draft.retry_delay = RetryDelay::Fixed { seconds: vec![3] };
        node.edit(steps.job("a"), draft).await;
        let run_id = steps.fire().await;
        steps.end("a", 500, "no").await;
        assert_eq!(steps.states(run_id).await, "a running, b waiting", "its next attempt is on its way");
        node.advance(3_100).await;
        steps.end("a", 200, "yes").await;
        steps.end("b", 200, "").await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Succeeded);
        assert_eq!(steps.view(run_id).await.nodes[0].attempts, 2);
    });
}

#[test]
fn a_workflow_is_a_node_of_another_one() {
    with_registered_executor(async |node, _| {
        let inner = Steps::new(node, json!({"x": {}, "y": {"after": ["x"]}}), |_| ()).await;
        let nodes =
            json!({"first": {}, "inner": {"job": inner.job.id, "after": ["first"]}, "last": {"after": ["inner"]}});
        let outer = Steps::new(node, nodes, |_| ()).await;
        let run_id = outer.fire().await;
        outer.end("first", 200, "").await;
        inner.go_on().await;
        inner.end("x", 200, "").await;
        inner.end("y", 200, "from within").await;
        outer.go_on().await;
        assert_eq!(outer.states(run_id).await, "first succeeded, inner succeeded, last running");
        outer.end("last", 200, "").await;
        assert_eq!(outer.workflow_run(run_id).await.state, RunState::Succeeded);
    });
}
