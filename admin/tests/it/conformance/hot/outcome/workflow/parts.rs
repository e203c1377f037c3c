//! Nodes whose jobs have several parts.

use carillon_scheduler::RunState::{Claimed, Running};
use carillon_scheduler::{JobDraft, Parts};
use carillon_store::run::expand::Expansion;
use carillon_store::workflow::action::WorkflowAction;
use serde_json::json;

use super::graphs::Graph;
use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure, success};

/// The job of node `split` has a text for each of three parts.
fn in_parts(name: &str, draft: &mut JobDraft) {
    if name == "split" {
        draft.parts = Parts::Each(vec!["x".into(), "y".into(), "z".into()]);
    }
}

impl Fixture {
    /// The parts of the node's run, which executors have.
    async fn split(&self, graph: &Graph, run_id: i64) -> Vec<i64> {
        let first = self.claimed(self.only(graph, run_id, "split").await.id).await;
        let parts = self.store.runs().expand(&first, &Expansion::Parts, "n").await.unwrap();
        self.send().await;
        parts.iter().map(|run| run.run_id).collect()
    }

    async fn fail(&self, ids: &[i64]) {
        let ends: Vec<_> = ids.iter().map(|id| failure(*id)).collect();
        self.store.runs().settle(&ends, &FOLLOW_UP).await.unwrap();
        self.go_on().await;
    }

    async fn succeed(&self, ids: &[i64]) {
        let ends: Vec<_> = ids.iter().map(|id| success(*id)).collect();
        self.store.runs().settle(&ends, &FOLLOW_UP).await.unwrap();
        self.go_on().await;
    }
}

databases! {
    // covers: 004-9
    async fn a_node_of_several_parts_is_tried_again_with_those_that_have_not_succeeded(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph_with(json!({"split": {}, "slow": {}, "last": {"after": ["split"]}}), in_parts).await;
        let run = fixture.fire_of_graph(&graph, NOW).await;
        assert!(fixture.store.workflows().hold(&run, "", NOW).await.unwrap());
        fixture.go_on().await;
        let run_id = run.run_id;
        let parts = fixture.split(&graph, run_id).await;
        fixture.succeed(&parts[..1]).await;
        fixture.fail(&parts[1..]).await;
        assert_eq!(fixture.nodes(run_id).await, "last upstream_failed, slow running, split failed");
        let retry = WorkflowAction::Retry { node: "split".into() };
        let shards = fixture.store.workflows().decide(run_id, &retry, FOLLOW_UP.now, &actor()).await.unwrap();
        assert_eq!(shards, [graph.job("split").shard]);
        fixture.go_on().await;
        let mut again = fixture.of_node(&graph, "split").await;
        again.retain(|run| run.attempt == 2);
        again.sort_by_key(|run| run.part);
        assert_eq!(again.iter().map(|run| (run.part, run.parts, run.state())).collect::<Vec<_>>(), [(1, 3, Claimed), (2, 3, Claimed)]);
        for (run, text) in again.iter().zip(["y", "z"]) {
            let own = format!("run_id = {} AND params = '{text}' AND is_of_part = TRUE", run.id);
            assert_eq!(fixture.count("run_input", &own).await, 1, "{text}");
        }
        fixture.send().await;
        fixture.succeed(&again.iter().map(|run| run.id).collect::<Vec<_>>()).await;
        assert_eq!(fixture.nodes(run_id).await, "last running, slow running, split succeeded");
        let view = fixture.store.workflows().view(run_id).await.unwrap().unwrap();
        assert_eq!((view.nodes[2].attempts, fixture.state(run_id).await), (2, Running));
    }

    // covers: 004-9
    async fn a_node_whose_job_lists_texts_of_parts_keeps_them_after_a_parent(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph_with(json!({"first": {}, "split": {"after": ["first"]}, "plain": {"after": ["first"]}}), in_parts).await;
        let run_id = fixture.begun(&graph, NOW).await;
        fixture.succeed(&[fixture.only(&graph, run_id, "first").await.id]).await;
        let plain = fixture.only(&graph, run_id, "plain").await.id;
        assert_eq!(fixture.count("run_input", &format!("run_id = {plain} AND params = 'said 200'")).await, 1);
        let split = fixture.only(&graph, run_id, "split").await.id;
        assert_eq!(fixture.count("run_input", &format!("run_id = {split}")).await, 0, "the result of its parent");
        let parts = fixture.split(&graph, run_id).await;
        for (id, text) in parts.iter().zip(["x", "y", "z"]) {
            assert_eq!(fixture.count("run_input", &format!("run_id = {id} AND params = '{text}'")).await, 1, "{text}");
        }
        assert_eq!(parts.len(), 3);
    }
}
