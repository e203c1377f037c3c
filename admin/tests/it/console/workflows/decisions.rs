//! What people decide about a run of a workflow that is on its way.

use carillon_scheduler::RunState;
use carillon_store::Role;
use serde_json::json;

use super::{World, failed_at_first, part, row, text};
use crate::console::client::Answer;
use crate::console::run;
use crate::flow::workflows::steps::Steps;

impl World {
    async fn decide(&self, run_id: i64, fields: &[(&str, &str)]) -> Answer {
        self.admin.submit(&format!("/runs/{run_id}/decide"), fields).await
    }

    /// What the page says that follows.
    async fn flash(&self, answer: &Answer) -> String {
        assert_eq!(answer.status, 303, "{}", answer.body);
        let page = self.get(answer.location()).await;
        text(page.split("data-testid=\"flash\"").nth(1).unwrap().split("</div>").next().unwrap())
    }
}

#[test]
fn a_run_is_held_and_released_after_a_question() {
    run(async {
        let world = World::start().await;
        let (steps, run_id) = failed_at_first(&world).await;
        let page = world.run_page(run_id).await;
        assert!(page.contains(&format!("href=\"/runs/{run_id}/decide?action=hold\"")), "{page}");
        let question = world.get(&format!("/runs/{run_id}/decide?action=hold")).await;
        assert!(
            text(&question).contains(&format!("Hold run {run_id}?")) && question.contains("No further node starts")
        );
        let answer = world.decide(run_id, &[("action", "hold")]).await;
        assert!(world.flash(&answer).await.contains("The run is held."));
        let page = world.run_page(run_id).await;
        assert!(text(part(&page, "held")).contains("Held by admin since"), "{page}");
        assert!(page.contains("decide?action=release") && !page.contains("decide?action=hold"));
        let answer = world.decide(run_id, &[("action", "release")]).await;
        assert!(world.flash(&answer).await.contains("The run is released."));
        assert!(!world.run_page(run_id).await.contains("data-testid=\"held\""));
        steps.end("c", 200, "").await;
    });
}

#[test]
fn only_what_the_state_of_a_node_allows_is_offered_and_done() {
    run(async {
        let world = World::start().await;
        let nodes = json!({"a": {}, "z": {}, "b": {"after": ["a", "z"]}, "c": {"after": ["b"]}, "d": {"after": ["z"]}});
        let steps = Steps::new(&world.node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        steps.end("a", 500, "no").await;
        let page = world.run_page(run_id).await;
        let offered = |node: &str| -> Vec<String> {
            let actions = row(&page, node).split("decide?action=").skip(1);
            actions.map(|rest| rest.split('&').next().unwrap().to_owned()).collect()
        };
        assert_eq!(offered("a"), ["retry", "succeed"]);
        assert_eq!((offered("z"), offered("b")), (vec![], vec!["skip".into(), "succeed".into(), "fail".into()]));

        let question = world.get(&format!("/runs/{run_id}/decide?action=succeed&node=a")).await;
        assert!(question.contains("id=\"result\""), "{question}");
        let answer = world.decide(run_id, &[("action", "skip"), ("node", "c")]).await;
        assert!(world.flash(&answer).await.contains("The node c is skipped."));
        let answer = world.decide(run_id, &[("action", "fail"), ("node", "d")]).await;
        assert!(world.flash(&answer).await.contains("The node d counts as failed."));
        let answer = world.decide(run_id, &[("action", "retry"), ("node", "a")]).await;
        assert!(world.flash(&answer).await.contains("The node a is tried again."));
        steps.go_on().await;
        steps.end("a", 500, "no").await;
        let answer = world.decide(run_id, &[("action", "succeed"), ("node", "a"), ("result", "by hand")]).await;
        assert!(world.flash(&answer).await.contains("The node a counts as succeeded."));
        steps.go_on().await;
        assert_eq!(steps.states(run_id).await, "a succeeded, b waiting, c skipped, d failed, z running");
        assert!(row(&world.run_page(run_id).await, "a").contains("by hand"));

        let answer = world.admin.get(&format!("/runs/{run_id}/decide?action=skip&node=z")).await;
        assert!(world.flash(&answer).await.contains("The node z is in another state by now: running."));
        let answer = world.decide(run_id, &[("action", "skip"), ("node", "z")]).await;
        assert!(world.flash(&answer).await.contains("Nothing was changed: is running; only a node that waits"));
        let missing = world.admin.get(&format!("/runs/{run_id}/decide?action=skip&node=none")).await;
        assert_eq!((missing.status, world.decide(run_id, &[("action", "dance")]).await.status), (404, 404));
    });
}

#[test]
fn a_result_that_is_too_long_stays_in_the_form_with_its_error() {
    run(async {
        let world = World::start().await;
        let (_steps, run_id) = failed_at_first(&world).await;
        let long = "r".repeat(65_537);
        let fields = [("action", "succeed"), ("node", "a"), ("result", long.as_str())];
        let answer = world.decide(run_id, &fields).await;
        assert_eq!(answer.status, 422);
        assert_eq!(answer.error("result"), Some("has 65537 bytes; at most 65536 are allowed"));
        assert!(answer.body.contains(&long), "what was typed stays");
    });
}

#[test]
fn a_viewer_is_offered_nothing_and_may_decide_nothing() {
    run(async {
        let world = World::start().await;
        let (_steps, run_id) = failed_at_first(&world).await;
        let viewer = world.person(Role::Viewer).await;
        let page = viewer.get(&format!("/runs/{run_id}")).await.body;
        assert!(page.contains("data-testid=\"nodes\"") && !page.contains("/decide") && !page.contains("/rerun"));
        for path in ["decide?action=hold", "rerun"] {
            assert_eq!(viewer.get(&format!("/runs/{run_id}/{path}")).await.status, 403, "{path}");
        }
        let held = viewer.submit(&format!("/runs/{run_id}/decide"), &[("action", "hold")]).await;
        assert_eq!(held.status, 403);
        assert!(!world.run_page(run_id).await.contains("data-testid=\"held\""));
    });
}

#[test]
fn the_question_before_a_kill_says_what_it_means_for_a_workflow() {
    run(async {
        let world = World::start().await;
        let (steps, run_id) = failed_at_first(&world).await;
        let question = world.get(&format!("/runs/{run_id}/kill")).await;
        assert!(question.contains("Nodes that wait do not start."), "{question}");
        let of_node = world.get(&format!("/runs/{}/kill", steps.run("c").await.id)).await;
        assert!(of_node.contains("the executor is asked to end the run"), "{of_node}");
        assert_eq!(steps.workflow_run(run_id).await.state, RunState::Running);
    });
}
