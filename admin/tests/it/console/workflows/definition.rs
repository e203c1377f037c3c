//! The page of a job that is a workflow, and of one that a workflow uses; its history.

use serde_json::json;

use super::{World, part, row, text};
use crate::console::run;
use crate::flow::workflows::steps::Steps;

async fn steps(world: &World) -> Steps<'_> {
    let nodes = json!({
        "check": {},
        "load": {"after": [{"node": "check", "when": [{"path": "/rows", "gt": 0}]}], "params": "{{nodes.check.result}}"},
        "clean": {"after": [{"node": "load", "on": "always"}], "if_failed": "ignore"}
    });
    Steps::new(&world.node, nodes, |draft| draft.name = "Close the day".into()).await
}

#[test]
fn the_page_of_a_workflow_shows_its_nodes_in_place_of_a_handler() {
    run(async {
        let world = World::start().await;
        let steps = steps(&world).await;
        let page = world.get(&format!("/jobs/{}", steps.job.id)).await;
        assert!(text(&page).contains("Workflow 3 nodes") && !page.contains("<dt>Handler</dt>"), "{page}");
        assert!(!page.contains("<dt>Route</dt>") && !page.contains("<dt>Block strategy</dt>"));
        let section = part(&page, "workflow");
        let load = text(row(section, "load"));
        assert!(load.contains("check if /rows &gt; 0") || load.contains("check if /rows &#62; 0"), "{load}");
        assert!(load.contains("{{nodes.check.result}}"), "{load}");
        assert!(text(row(section, "check")).contains("starts at once"));
        assert!(text(row(section, "clean")).contains("it counts as succeeded"));
        let picture = part(section, "picture");
        let link = format!("<a href=\"/jobs/{}\" aria-label=\"check: job\">", steps.job("check").id);
        assert!(picture.contains(&link), "{picture}");
        let first = |node: &str| picture.find(&format!("aria-label=\"{node}: ")).unwrap();
        assert!(first("check") < first("load") && first("load") < first("clean"), "the focus goes from left to right");
        assert!(picture.contains("class=\"graph-label\""), "the text of the edge");
    });
}

#[test]
fn the_page_of_a_job_names_the_workflows_that_use_it() {
    run(async {
        let world = World::start().await;
        let steps = steps(&world).await;
        let page = world.get(&format!("/jobs/{}", steps.job("load").id)).await;
        let users = page.split("data-testid=\"workflows\"").nth(1).unwrap().split("</ul>").next().unwrap();
        assert!(
            users.contains(&format!("href=\"/jobs/{}\"", steps.job.id)) && users.contains("Close the day"),
            "{users}"
        );
    });
}

#[test]
fn history_and_restore_show_a_changed_node_in_words() {
    run(async {
        let world = World::start().await;
        let steps = steps(&world).await;
        let mut draft = steps.job.draft.clone();
        let nodes = &mut draft.workflow.as_mut().unwrap().nodes;
        nodes.iter_mut().find(|(name, _)| name == "clean").unwrap().1.after.clear();
        draft.workflow.as_mut().unwrap().output = Some("{{nodes.load.result}}".into());
        world.node.edit(&steps.job, draft).await;
        let id = steps.job.id;
        for path in [format!("/jobs/{id}/history"), format!("/jobs/{id}/history/1/restore"), "/audit".to_owned()] {
            let page = world.get(&path).await;
            let change =
                page.split("data-member=\"workflow.nodes.clean\"").nth(1).unwrap_or_else(|| panic!("{path}: {page}"));
            let change = text(change.split("</div>").next().unwrap());
            let job = steps.job("clean").id;
            assert!(change.contains("Node clean"), "{path}: {change}");
            assert!(
                change.contains(&format!("Job: #{job}; After: load (on any end); If it fails: it counts as succeeded")),
                "{path}: {change}"
            );
            assert!(text(&page).contains("Result of the workflow"), "{path}");
        }
        assert!(
            !world.get(&format!("/jobs/{id}/history/1/restore")).await.contains("data-member=\"workflow.nodes.load\"")
        );
    });
}
