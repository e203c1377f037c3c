//! Nodes with a part for each member of a list, from the list to the results.

use std::collections::BTreeSet;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{BlockStrategy, Clock as _, JobDraft, Parts, RouteStrategy, RunState};
use carillon_store::workflow::action::WorkflowAction;
use carillon_store::{Definition, DefinitionContext};
use serde_json::json;

use crate::conformance::fixture::actor;
use crate::flow::node::with_registered_executor;
use crate::flow::workflows::steps::Steps;

#[test]
fn each_member_of_a_list_is_a_part_and_the_results_are_a_list_too() {
    with_registered_executor(async |node, executor| {
        let nodes = json!({
            "list": {},
            "each": {"for_each": "{{nodes.list.result#/of}}", "after": ["list"]},
            "sum": {"params": "{{nodes.each.result}}", "after": ["each"]},
        });
        let steps = Steps::new(node, nodes, |_| ()).await;
        for (of, texts, sum) in
            [(json!(["eu", 7]), vec!["eu", "7"], r#"["did eu","did 7"]"#), (json!(["us"]), vec!["us"], r#"["did us"]"#)]
        {
            let run_id = steps.fire().await;
            steps.end("list", 200, &json!({"of": of}).to_string()).await;
            let parts = node.runs(steps.job("each")).await;
            let parts: Vec<_> = parts.into_iter().filter(|run| run.state == RunState::Running).collect();
            let given = |run_id: i64| {
                let call = executor.runs().into_iter().find(|call| call.run_id() == run_id).unwrap().json();
                (call["executorParams"].as_str().unwrap().to_owned(), call["broadcastTotal"].as_u64())
            };
            let total = Some(texts.len() as u64);
            let sent: Vec<_> = parts.iter().map(|run| given(run.id)).collect();
            assert_eq!(sent, texts.iter().map(|text| ((*text).to_owned(), total)).collect::<Vec<_>>());
            for (done, (run, text)) in (0..).zip(parts.iter().zip(&texts)) {
                let view = steps.view(run_id).await;
                let each = view.nodes.iter().find(|node| node.name == "each").unwrap();
                assert_eq!((each.parts_succeeded, each.parts as usize), (done, texts.len()));
                assert_eq!(steps.states(run_id).await, "each running, list succeeded, sum waiting");
                node.callback(&[(run.id, 200, &format!("did {text}"))]).await;
                steps.go_on().await;
            }
            assert_eq!(given(steps.run("sum").await.id).0, sum);
            steps.end("sum", 200, "").await;
            assert_eq!(steps.workflow_run(run_id).await.state, RunState::Succeeded);
        }
        let run_id = steps.fire().await;
        steps.end("list", 200, r#"{"of":[]}"#).await;
        assert_eq!(steps.states(run_id).await, "each skipped, list succeeded, sum skipped");
        assert_eq!(steps.why(run_id, "each").await, "its list is empty");
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Succeeded);
    });
}

#[test]
fn one_member_is_one_part_whatever_the_job_says() {
    with_registered_executor(async |node, executor| {
        let nodes = json!({"list": {}, "each": {"for_each": "{{nodes.list.result}}", "after": ["list"]}});
        let steps = Steps::new(node, nodes, |_| ()).await;
        let mut draft = steps.job("each").draft.clone();
        draft.parts = Parts::Count(16);
        node.edit(steps.job("each"), draft).await;
        steps.fire().await;
        steps.end("list", 200, r#"["eu"]"#).await;
        let runs = node.runs(steps.job("each")).await;
        assert_eq!(runs.iter().map(|run| run.parts).collect::<Vec<_>>(), [1]);
        assert_eq!(executor.runs().last().unwrap().json()["executorParams"], "eu");
    });
}

#[test]
fn a_list_that_was_not_split_before_its_run_was_killed_is_split_by_the_next_attempt() {
    with_registered_executor(async |node, executor| {
        let nodes = json!({"list": {}, "each": {"for_each": "{{nodes.list.result}}", "after": ["list"]}, "slow": {}});
        let steps = Steps::new(node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        let list = steps.run("list").await.id;
        node.callback(&[(list, 200, r#"["a","b"]"#)]).await;
        let waits = steps.run("each").await;
        assert_eq!((waits.state, waits.parts), (RunState::Claimed, 1));
        node.engine.runs().kill(waits.id, &actor()).await.unwrap();
        node.services.advancer.step().await;
        assert_eq!(steps.states(run_id).await, "each failed, list succeeded, slow running");
        let sent = executor.runs().len();
        steps.decide(run_id, WorkflowAction::Retry { node: "each".into() }).await.unwrap();
        let given = executor.runs()[sent..]
            .iter()
            .map(|call| call.json()["executorParams"].to_string())
            .collect::<BTreeSet<_>>();
        assert_eq!(given, ["\"a\"", "\"b\""].map(str::to_owned).into());
    });
}

#[test]
fn a_job_that_cannot_be_split_is_refused_when_the_workflow_is_saved_and_fails_its_node_later() {
    with_registered_executor(async |node, _| {
        let nodes = json!({"list": {}, "each": {"for_each": "{{nodes.list.result}}", "after": ["list"]}});
        let steps = Steps::new(node, nodes, |_| ()).await;
        let job = steps.job("each");
        for change in [
            |draft: &mut JobDraft| draft.route = RouteStrategy::Broadcast,
            |draft: &mut JobDraft| draft.block = BlockStrategy::DiscardLater,
        ] {
            let mut draft = job.draft.clone();
            change(&mut draft);
            node.edit(job, draft).await;
            let run_id = steps.fire().await;
            steps.end("list", 200, "[1,2]").await;
            assert_eq!(steps.states(run_id).await, "each failed, list succeeded");
            let why = steps.why(run_id, "each").await;
            assert!(why.starts_with("its job cannot be split into parts: "), "{why}");
        }
        let mut draft = steps.job.draft.clone();
        draft.workflow.as_mut().unwrap().output = Some("x".to_owned());
        let now = node.clock.now();
        let context = DefinitionContext::of(&node.app, &steps.job, &steps.job.calendars);
        let definition = Definition::check_in(context, &draft, now).unwrap();
        let by = actor();
        let refused =
            node.store.jobs().update(steps.job.id, &definition, None, now, &by).await.unwrap_err().to_string();
        assert!(refused.starts_with("workflow.nodes.each.for_each: its job cannot be split into parts"), "{refused}");
    });
}
