//! The repetition of a run of a workflow.

use carillon_scheduler::RunState;

use super::{World, failed_at_first, part, row, text};
use crate::console::run;

#[test]
fn a_failed_run_goes_on_from_what_failed_after_two_presses() {
    run(async {
        let world = World::start().await;
        let (steps, run_id) = failed_at_first(&world).await;
        steps.end("c", 200, "told").await;
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Failed);
        let page = world.run_page(run_id).await;
        let first = page
            .split("id=\"run\"")
            .nth(1)
            .unwrap()
            .split("<div class=\"actions\">")
            .nth(1)
            .unwrap()
            .split("</a>")
            .next()
            .unwrap();
        assert!(first.contains(&format!("/runs/{run_id}/rerun")) && first.contains("Run again what failed"), "{first}");

        let question = world.get(&format!("/runs/{run_id}/rerun")).await;
        let again = text(question.split("data-testid=\"again\"").nth(1).unwrap().split("</p>").next().unwrap());
        assert_eq!(again.trim_start_matches("> "), "Again: a , b , c .");
        for choice in ["from-failed\" value=\"failed\" checked", "from-node", "from-all"] {
            assert!(question.contains(&format!("id=\"{choice}")), "{choice}: {question}");
        }
        let answer = world.admin.submit(&format!("/runs/{run_id}/rerun"), &[("from", "failed")]).await;
        let new: i64 = answer.location().rsplit('/').next().unwrap().parse().unwrap();
        assert_ne!(new, run_id);
        steps.go_on().await;
        let page = world.run_page(new).await;
        let prior = page.split("data-testid=\"prior-run\"").nth(1).unwrap().split("</dd>").next().unwrap();
        assert!(prior.contains(&format!("href=\"/runs/{run_id}\"")), "{prior}");
        assert!(text(row(&page, "a")).contains("running"));
        assert!(!world.run_page(run_id).await.contains("/rerun"), "a run is repeated once");
        let twice = world.admin.submit(&format!("/runs/{run_id}/rerun"), &[("from", "all")]).await;
        let said = world.get(twice.location()).await;
        assert!(said.contains(&format!("Nothing runs again: was repeated by run {new}; repeat that one.")), "{said}");
    });
}

#[test]
fn a_run_that_has_succeeded_can_run_again_from_a_node_and_keeps_what_is_before_it() {
    run(async {
        let world = World::start().await;
        let nodes = serde_json::json!({"a": {}, "b": {"after": ["a"]}});
        let steps = crate::flow::workflows::steps::Steps::new(&world.node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        let early = world.admin.get(&format!("/runs/{run_id}/rerun")).await;
        assert!(world.get(early.location()).await.contains("The run has not ended."));
        steps.end("a", 200, "rows").await;
        steps.end("b", 200, "").await;
        assert!(world.run_page(run_id).await.contains("Run again from a node…"));

        let path = format!("/runs/{run_id}/rerun");
        let wrong = world.admin.submit(&path, &[("from", "node"), ("node", "")]).await;
        assert_eq!((wrong.status, wrong.error("node")), (422, Some("Choose the node.")));
        assert!(text(&wrong.body).contains("No node failed. Kept: a , b ."), "{}", text(&wrong.body));
        let answer = world.admin.submit(&path, &[("from", "node"), ("node", "b")]).await;
        assert_eq!(answer.status, 303);
        steps.go_on().await;
        let page = world.get(answer.location()).await;
        assert!(text(row(&page, "a")).contains("from an earlier run"), "{}", row(&page, "a"));
        assert!(text(row(&page, "b")).contains("running"));
        assert_eq!((steps.runs("a").await, steps.runs("b").await), (1, 2));
    });
}

#[test]
fn the_question_names_what_runs_again_what_is_decided_again_and_what_is_kept() {
    run(async {
        let world = World::start().await;
        let nodes = serde_json::json!({"a": {}, "by-hand": {}, "cure": {"after": [{"node": "a", "on": "failure"}]}, "d": {"after": ["by-hand"]},
            "e": {"after": [{"node": "a", "on": "always"}]}});
        let steps = crate::flow::workflows::steps::Steps::new(&world.node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        let skip = carillon_store::workflow::action::WorkflowAction::Skip { node: "e".into() };
        steps.decide(run_id, skip).await.unwrap();
        steps.end("a", 200, "").await;
        steps.end("by-hand", 500, "no").await;
        let question = world.get(&format!("/runs/{run_id}/rerun")).await;
        let again = text(question.split("data-testid=\"again\"").nth(1).unwrap().split("</p>").next().unwrap());
        let named = "Again: by-hand , d . Skipped before, decided again by what comes before: cure . Kept: a , e .";
        assert_eq!(again.trim_start_matches("> "), named);
    });
}

#[test]
fn what_is_no_workflow_cannot_be_decided_about_or_run_again_so() {
    run(async {
        let world = World::start().await;
        let job = world.node.job(|_| ()).await;
        let run_id = world.node.fire(&job).await;
        for path in ["rerun", "decide?action=hold"] {
            let answer = world.admin.get(&format!("/runs/{run_id}/{path}")).await;
            let said = world.get(answer.location()).await;
            assert!(said.contains("The run is of no workflow, or has not begun."), "{path}: {said}");
        }
        let page = world.run_page(run_id).await;
        assert!(part(&page, "nodes").is_empty() && !page.contains("/rerun\""), "{page}");
    });
}
