//! How runs of workflows end other than by their last node.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, RunState};
use serde_json::json;

use crate::conformance::fixture::actor;
use crate::flow::node::with_registered_executor;
use crate::flow::workflows::steps::Steps;

#[test]
fn a_kill_ends_what_runs_and_starts_nothing_more() {
    with_registered_executor(async |node, executor| {
        let nodes =
            json!({"a": {}, "b": {}, "c": {"after": ["a"]}, "cleanup": {"after": [{"node": "a", "on": "always"}]}});
        let steps = Steps::new(node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        node.engine.runs().kill(run_id, &actor()).await.unwrap();
        steps.go_on().await;
        let asked: Vec<i64> =
            executor.received("/kill").iter().map(|kill| kill.json()["jobId"].as_i64().unwrap()).collect();
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert_eq!(steps.states(run_id).await, "a running, b running, c cancelled, cleanup cancelled");
        steps.end("a", 500, "killed").await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Running, "b has not ended");
        steps.end("b", 200, "").await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Killed);
        assert_eq!((steps.runs("a").await, steps.runs("b").await), (1, 1));
    });
}

#[test]
fn a_workflow_over_its_time_fails_when_what_runs_of_it_has_ended() {
    with_registered_executor(async |node, executor| {
        let steps =
            Steps::new(node, json!({"a": {}, "b": {"after": ["a"]}}), |draft| draft.timeout_seconds = 120).await;
        let run_id = steps.fire().await;
        node.advance(100_000).await;
        node.register(executor).await;
        node.services.monitor.step().await;
        steps.go_on().await;
        assert_eq!(executor.received("/kill").len(), 0);
        // An executor would have another minute to end its run.
        node.advance(30_000).await;
        node.register(executor).await;
        node.services.monitor.step().await;
        // What it has noted is found a second later.
        node.drain().await;
        node.advance(2_000).await;
        steps.go_on().await;
        assert_eq!(executor.received("/kill").len(), 1);
        steps.end("a", 500, "killed").await;
        let ended = steps.workflow_run(run_id).await;
        assert_eq!((ended.state, ended.reason.as_deref()), (RunState::Failed, Some("timeout")));
    });
}

#[test]
fn a_node_whose_job_is_gone_fails_and_says_so() {
    with_registered_executor(async |node, _| {
        let steps = Steps::new(node, json!({"a": {}, "b": {"after": ["a"]}}), |_| ()).await;
        let run_id = steps.fire().await;
        // The workflow keeps the graph that it began with.
        let mut draft = steps.job.draft.clone();
        draft.workflow.as_mut().unwrap().nodes.pop();
        node.edit(&steps.job, draft).await;
        node.store.jobs().delete(steps.job("b").id, node.clock.now(), &actor()).await.unwrap();
        steps.end("a", 200, "").await;
        assert_eq!(steps.states(run_id).await, "a succeeded, b failed");
        let ended = steps.workflow_run(run_id).await;
        assert_eq!(ended.result_msg.as_deref(), Some("b: the job does not exist any more"));
        assert_eq!(ended.state, RunState::Failed);
    });
}

#[test]
fn what_comes_after_a_node_that_cannot_start_goes_on() {
    with_registered_executor(async |node, _| {
        let nodes = json!({
            "a": {},
            "gone": {"after": ["a"]},
            "alarm": {"after": [{"node": "gone", "on": "failure"}]},
            "tidy": {"after": [{"node": "gone", "on": "always"}]},
            "next": {"after": ["gone"]},
        });
        let steps = Steps::new(node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        let mut draft = steps.job.draft.clone();
        draft.workflow.as_mut().unwrap().nodes.truncate(1);
        node.edit(&steps.job, draft).await;
        node.store.jobs().delete(steps.job("gone").id, node.clock.now(), &actor()).await.unwrap();
        steps.end("a", 200, "").await;
        let states = "a succeeded, alarm running, gone failed, next upstream_failed, tidy running";
        assert_eq!(steps.states(run_id).await, states);
        for name in ["alarm", "tidy"] {
            steps.end(name, 200, "").await;
        }
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Failed);
    });
}

#[test]
fn evidence_after_the_end_is_noted_and_starts_nothing() {
    with_registered_executor(async |node, _| {
        let steps = Steps::new(node, json!({"a": {}, "b": {"after": ["a"]}}), |_| ()).await;
        let run_id = steps.fire().await;
        let a = steps.run("a").await.id;
        node.sql(&format!("UPDATE run SET state = 4 WHERE id = {a}")).await;
        node.sql(&format!(
            "INSERT INTO follow_up (id, run_id, kind, job_id, at) VALUES ({}, {a}, 4, {}, 0)",
            a * 8 + 4,
            steps.job("a").id
        ))
        .await;
        node.advance(2_000).await;
        steps.go_on().await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Failed, "a lost node counts as failed");
        node.callback(&[(a, 200, "late")]).await;
        steps.go_on().await;
        assert_eq!(steps.states(run_id).await, "a succeeded, b upstream_failed");
        assert_eq!(steps.why(run_id, "a").await, "its success became known after the workflow had ended");
        assert_eq!(steps.runs("b").await, 0);
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Failed);
    });
}

#[test]
fn workflows_on_their_way_and_the_nodes_that_were_started_are_counted() {
    with_registered_executor(async |node, _| {
        let steps = Steps::new(node, json!({"a": {}, "b": {"after": ["a"]}}), |_| ()).await;
        let counted = async |open: i64, started: i64| {
            node.services.resolver.step().await;
            let metrics = node.metrics();
            for line in
                [format!("carillon_open_workflows {open}"), format!("carillon_workflow_nodes_started_total {started}")]
            {
                assert!(metrics.lines().any(|it| it == line), "no {line} in {metrics}");
            }
        };
        node.fire(&steps.job).await;
        steps.fire().await;
        counted(2, 2).await;
        steps.end("a", 200, "").await;
        node.advance(60_000).await;
        counted(2, 3).await;
        steps.end("b", 200, "").await;
        node.advance(60_000).await;
        counted(1, 3).await;
        assert!(!node.metrics().contains("carillon_advance_duration_seconds_count 0"));
    });
}
