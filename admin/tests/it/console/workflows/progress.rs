//! The page of a run of a workflow, and of the run of a node.

use carillon_store::{Definition, Role};
use serde_json::json;

use super::{World, failed_at_first, part, row, text};
use crate::conformance::fixture::actor;
use crate::console::run;
use crate::flow::node::START;
use crate::flow::workflows::steps::Steps;

#[test]
fn the_page_of_a_run_shows_each_node_with_its_state_and_why() {
    run(async {
        let world = World::start().await;
        let (steps, run_id) = failed_at_first(&world).await;
        let page = world.run_page(run_id).await;
        let (a, b, c) = (row(&page, "a"), row(&page, "b"), row(&page, "c"));
        assert!(text(a).contains("failed") && text(a).contains("the disk is full"), "{a}");
        let run_of_a = steps.run("a").await.id;
        assert!(a.contains(&format!("href=\"/runs/{run_of_a}\"")), "{a}");
        assert!(text(b).contains("not run") && text(b).contains("not run because of a"), "{b}");
        assert!(text(c).contains("running") && text(c).contains("a (on failure)"), "{c}");
        assert!(
            text(part(&page, "nodes")).contains("1 running, 1 failed, 1 not run"),
            "{}",
            text(part(&page, "nodes"))
        );

        let picture = page.split("data-testid=\"picture\"").nth(1).unwrap().split("</figure>").next().unwrap();
        assert!(picture.contains("role=\"img\" aria-labelledby=\"graph-title\""), "{picture}");
        assert!(
            picture.contains("data-on=\"failure\"")
                && picture.contains("on failure")
                && !picture.contains("on any end")
        );
        let link = format!("<a href=\"/runs/{run_of_a}\" aria-label=\"a: failed, job\">");
        assert!(picture.contains(&link), "{picture}");

        assert!(text(part(&page, "no-log")).contains("A workflow has no log."), "{page}");
        assert!(page.contains("none: its nodes have executors") && !page.contains("log.js"));
        world.node.drain().await;
    });
}

#[test]
fn the_run_of_a_node_leads_to_its_workflow() {
    run(async {
        let world = World::start().await;
        let (steps, run_id) = failed_at_first(&world).await;
        let page = world.run_page(steps.run("c").await.id).await;
        let fact = page.split("data-testid=\"node-of\"").nth(1).unwrap().split("</dd>").next().unwrap();
        assert!(fact.contains(&format!("href=\"/runs/{run_id}\"")) && fact.contains(">c</code>"), "{fact}");
        assert!(page.contains("id=\"log\""), "a node's run has a log");
    });
}

#[test]
fn of_a_node_of_an_app_that_the_viewer_may_not_see_there_are_name_and_state() {
    run(async {
        let world = World::start().await;
        // `Steps` makes jobs of its own where a node names job 1.
        world.node.job(|_| ()).await;
        let billing = world.node.store.apps().create("billing", "Billing", START, &actor()).await.unwrap();
        let draft = carillon_scheduler::JobDraft::new("billing", "Secret job", "h");
        let definition = Definition::check(&billing, &draft, START).unwrap();
        let secret = world.node.store.jobs().create(vec![definition], START, &actor(), None).await.unwrap().remove(0);
        let nodes = json!({"open": {}, "hidden": {"job": secret.id, "after": ["open"]}});
        let steps = Steps::new(&world.node, nodes, |_| ()).await;
        let run_id = steps.fire().await;
        let mark = [("action", "succeed"), ("node", "hidden"), ("result", "secret result")];
        assert_eq!(world.admin.submit(&format!("/runs/{run_id}/decide"), &mark).await.status, 303);
        steps.end("open", 200, "public").await;

        let path = format!("/runs/{run_id}");
        let page = world.get(&path).await;
        assert!(
            row(&page, "hidden").contains("secret result") && row(&page, "hidden").contains("Secret job"),
            "{page}"
        );
        let viewer = world.person(Role::Viewer).await;
        let page = viewer.get(&path).await.body;
        assert!(row(&page, "open").contains("public"));
        let hidden = row(&page, "hidden");
        assert!(text(hidden).contains("succeeded") && text(hidden).contains("a job of another app"), "{hidden}");
        assert!(!part(&page, "nodes").contains("ecret") && !hidden.contains("<a "), "{}", part(&page, "nodes"));
    });
}

#[test]
fn the_nodes_of_a_run_are_chinese() {
    run(async {
        let world = World::start().await;
        let (_steps, run_id) = failed_at_first(&world).await;
        world.admin.submit("/preferences", &[("language", "zh"), ("next", "/jobs")]).await;
        let page = world.run_page(run_id).await;
        let nodes = text(part(&page, "nodes"));
        for words in ["失败", "未运行", "因 a 未运行", "a（失败时）", "运行中", "失败时", "重试"]
        {
            assert!(nodes.contains(words), "{words}: {nodes}");
        }
        assert!(page.contains("工作流没有日志"), "{page}");
    });
}

#[test]
fn a_workflow_with_many_nodes_has_a_table_alone() {
    run(async {
        let world = World::start().await;
        // `Steps` makes jobs of its own where a node names job 1.
        world.node.job(|_| ()).await;
        let used = world.node.job(|_| ()).await.id;
        let nodes: serde_json::Map<String, serde_json::Value> =
            (0..201).map(|number| (format!("n{number}"), json!({"job": used}))).collect();
        let steps = Steps::new(&world.node, nodes.into(), |_| ()).await;
        let page = world.get(&format!("/jobs/{}", steps.job.id)).await;
        assert!(page.contains("A workflow with more than 200 nodes has no picture.") && !page.contains("<figure"));
        assert_eq!(page.matches("data-cell=\"node\"").count(), 201);
    });
}
