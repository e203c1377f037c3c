//! What people decide about runs of workflows.

use carillon_scheduler::workflow::{NodeState, RerunFrom};
use carillon_scheduler::{Clock as _, RetryDelay, RunState};
use carillon_store::workflow::action::WorkflowAction;
use carillon_store::workflow::view::NodeProgress;
use carillon_store::{Actor, Grants, Role};
use serde_json::json;

use crate::conformance::fixture::actor;
use crate::flow::node::with_registered_executor;
use crate::flow::workflows::steps::Steps;

impl Steps<'_> {
    pub async fn decide(&self, run_id: i64, action: WorkflowAction) -> Result<(), String> {
        let done = self.node.engine.runs().decide(run_id, &action, &actor()).await;
        self.go_on().await;
        done.map_err(|error| error.to_string())
    }

    async fn rerun(&self, run_id: i64, from: RerunFrom) -> Result<i64, String> {
        let made = self.node.engine.runs().rerun_workflow(run_id, &from, &actor()).await;
        self.go_on().await;
        made.map_err(|error| error.to_string())
    }
}

/// A person who sees the app of the tests, and no other.
fn viewer(steps: &Steps<'_>) -> Actor {
    Actor::new("vera", "127.0.0.1", Grants::for_app(steps.job.app_id, Role::Viewer))
}

fn retry(node: &str) -> WorkflowAction {
    WorkflowAction::Retry { node: node.to_owned() }
}

#[test]
fn nothing_starts_while_a_workflow_is_held() {
    with_registered_executor(async |node, _| {
        let steps = Steps::new(node, json!({"a": {}, "b": {"after": ["a"]}}), |_| ()).await;
        let run_id = steps.fire().await;
        steps.decide(run_id, WorkflowAction::Hold).await.unwrap();
        steps.end("a", 200, "").await;
        assert_eq!(steps.states(run_id).await, "a succeeded, b held");
        assert!(steps.view(run_id).await.held.is_some());
        steps.decide(run_id, WorkflowAction::Release).await.unwrap();
        steps.end("b", 200, "").await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Succeeded);
    });
}

#[test]
fn a_failed_node_is_tried_again_while_others_run() {
    with_registered_executor(async |node, _| {
        let steps = Steps::new(node, json!({"a": {}, "slow": {}, "b": {"after": ["a"]}}), |_| ()).await;
        let run_id = steps.fire().await;
        let wrong = steps.decide(run_id, retry("a")).await.unwrap_err();
        assert_eq!(wrong, "node: is running; only a node whose run has failed can be tried again");
        steps.end("a", 500, "no").await;
        assert_eq!(steps.states(run_id).await, "a failed, b upstream_failed, slow running");
        steps.decide(run_id, retry("a")).await.unwrap();
        assert_eq!(steps.states(run_id).await, "a running, b waiting, slow running");
        steps.end("a", 200, "yes").await;
        steps.end("b", 200, "").await;
        steps.end("slow", 200, "").await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Succeeded);
    });
}

#[test]
fn of_a_node_whose_job_is_gone_only_who_sees_the_installation_sees_more_than_name_and_state() {
    with_registered_executor(async |node, _| {
        let steps = Steps::new(node, json!({"a": {}, "b": {}}), |_| ()).await;
        let run_id = steps.fire().await;
        steps.end("b", 500, "secret").await;
        let mut draft = steps.job.draft.clone();
        draft.workflow.as_mut().unwrap().nodes.pop();
        node.edit(&steps.job, draft).await;
        node.store.jobs().delete(steps.job("b").id, node.clock.now(), &actor()).await.unwrap();
        let seen = async |by: &Actor| {
            let view = node.engine.runs().workflow(run_id, by).await.unwrap().unwrap();
            let of = |node: &NodeProgress| (node.is_hidden, node.why.clone(), node.run_id.is_some(), node.state);
            view.nodes.iter().map(of).collect::<Vec<_>>()
        };
        let a = (false, String::new(), true, NodeState::Running);
        let all = [a.clone(), (false, "secret".to_owned(), true, NodeState::Failed)];
        assert_eq!(seen(&actor()).await, all);
        assert_eq!(seen(&viewer(&steps)).await, [a, (true, String::new(), false, NodeState::Failed)]);
    });
}

#[test]
fn nodes_are_skipped_and_marked_by_hand() {
    with_registered_executor(async |node, _| {
        let nodes = json!({"a": {}, "b": {"after": ["a"]}, "c": {"after": ["b"]}, "d": {"after": ["a"]}});
        let steps = Steps::new(node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        steps
            .decide(run_id, WorkflowAction::Succeed { node: "b".into(), result: Some("by hand".into()) })
            .await
            .unwrap();
        steps.decide(run_id, WorkflowAction::Skip { node: "d".into() }).await.unwrap();
        assert_eq!(steps.states(run_id).await, "a running, b succeeded, c running, d skipped");
        let wrong = steps.decide(run_id, WorkflowAction::Skip { node: "c".into() }).await.unwrap_err();
        assert_eq!(wrong, "node: is running; only a node that waits can be marked so");
        let missing = steps.decide(run_id, retry("x")).await.unwrap_err();
        assert_eq!(missing, format!("there is no node \"x\" of run {run_id}"));
        steps.end("c", 200, "").await;
        steps.end("a", 200, "").await;
        let ended = steps.workflow_run(run_id).await;
        assert_eq!(ended.state, RunState::Succeeded);
        assert_eq!(steps.runs("b").await + steps.runs("d").await, 0);
    });
}

#[test]
fn a_rerun_goes_on_from_what_failed_and_repeats_nothing_before_it() {
    with_registered_executor(async |node, _| {
        let nodes = json!({"a": {}, "b": {"after": ["a"]}, "c": {"after": ["b"]}, "d": {"after": ["a"]}});
        let steps = Steps::new(node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        let early = steps.rerun(run_id, RerunFrom::Failed).await.unwrap_err();
        assert_eq!(early, "run: has not ended; a node that failed can be tried again");
        steps.end("a", 200, "kept").await;
        steps.end("d", 200, "").await;
        steps.end("b", 500, "no").await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Failed);
        let again = steps.rerun(run_id, RerunFrom::Failed).await.unwrap();
        let repeated = steps.workflow_run(again).await;
        let first = steps.workflow_run(run_id).await;
        assert_eq!((repeated.attempt, repeated.fire_no), (2, first.fire_no), "the next attempt of the same fire");
        assert_eq!(steps.states(again).await, "a succeeded, b running, c waiting, d succeeded");
        assert!(steps.view(again).await.nodes[0].is_kept);
        let twice = steps.rerun(run_id, RerunFrom::All).await.unwrap_err();
        assert_eq!(twice, format!("run: was repeated by run {again}; repeat that one"));
        steps.end("b", 200, "").await;
        steps.end("c", 200, "").await;
        assert_eq!(steps.workflow_run(again).await.state, RunState::Succeeded);
        assert_eq!((steps.runs("a").await, steps.runs("b").await, steps.runs("d").await), (1, 2, 1));
    });
}

#[test]
fn a_node_that_was_skipped_by_hand_stays_skipped_when_the_workflow_is_tried_again() {
    with_registered_executor(async |node, _| {
        let nodes = json!({"a": {}, "b": {"after": ["a"]}, "c": {"after": [{"node": "a", "on": "always"}]}});
        let steps = Steps::new(node, nodes, |draft| {
            draft.retries = 1;
            draft.retry_delay = RetryDelay::Fixed { seconds: vec![3] };
        })
        .await;
        let run_id = steps.fire().await;
        steps.decide(run_id, WorkflowAction::Skip { node: "c".into() }).await.unwrap();
        steps.end("a", 500, "no").await;
        assert_eq!(steps.states(run_id).await, "a failed, b upstream_failed, c skipped");
        node.advance(3_100).await;
        steps.go_on().await;
        steps.end("a", 200, "").await;
        steps.end("b", 200, "").await;
        assert_eq!(node.states(&steps.job).await, [RunState::Failed, RunState::Succeeded]);
        assert_eq!((steps.runs("b").await, steps.runs("c").await), (1, 0));
        let latest = steps.node.runs(&steps.job).await.last().unwrap().id;
        assert_eq!(steps.states(latest).await, "a succeeded, b succeeded, c skipped");
        let all = steps.rerun(latest, RerunFrom::All).await.unwrap();
        steps.end("a", 200, "").await;
        assert_eq!(steps.states(all).await, "a succeeded, b running, c running");
    });
}

#[test]
fn a_retry_of_the_workflow_goes_on_from_what_failed_also_within_a_node() {
    with_registered_executor(async |node, _| {
        let inner = Steps::new(node, json!({"x": {}, "y": {"after": ["x"]}}), |_| ()).await;
        let nodes = json!({"a": {}, "inner": {"job": inner.job.id, "after": ["a"]}});
        let outer = Steps::new(node, nodes, |draft| {
            draft.retries = 1;
            draft.retry_delay = RetryDelay::Fixed { seconds: vec![3] };
        })
        .await;
        let run_id = outer.fire().await;
        outer.end("a", 200, "").await;
        inner.go_on().await;
        inner.end("x", 200, "").await;
        inner.end("y", 500, "no").await;
        outer.go_on().await;
        assert_eq!(outer.workflow_run(run_id).await.state, RunState::Failed);
        node.advance(3_100).await;
        outer.go_on().await;
        inner.go_on().await;
        assert_eq!((outer.runs("a").await, inner.runs("x").await, inner.runs("y").await), (1, 1, 2));
        inner.end("y", 200, "").await;
        outer.go_on().await;
        let states = outer.node.states(&outer.job).await;
        assert_eq!(states, [RunState::Failed, RunState::Succeeded]);
    });
}
