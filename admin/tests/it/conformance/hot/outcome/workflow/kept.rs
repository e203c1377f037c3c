//! What is kept of workflows, and what goes with their runs.

use carillon_scheduler::RunState;

use super::graphs::{Graph, diamond};
use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure};

impl Fixture {
    /// A run whose first node has failed, and with it the run.
    async fn failed(&self, graph: &Graph, fire_no: i64) -> (i64, i64) {
        let run_id = self.begun(graph, fire_no).await;
        let top = self.only(graph, run_id, "top").await.id;
        self.store.runs().settle(&[failure(top)], &FOLLOW_UP).await.unwrap();
        self.go_on().await;
        assert_eq!(self.state(run_id).await, RunState::Failed);
        // The reports have counted them.
        self.sql("DELETE FROM report_open").await;
        (run_id, top)
    }

    async fn prune(&self, ids: &[i64]) -> u64 {
        self.store.retention().prune_runs(ids, 0).await.unwrap()
    }

    async fn graphs_of(&self, graph: &Graph) -> i64 {
        self.count("workflow_graph", &format!("job_id = {}", graph.job.id)).await
    }
}

databases! {
    // covers: 001-35
    async fn the_progress_of_a_run_goes_with_it_and_its_nodes_after_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(diamond()).await;
        let open = fixture.begun(&graph, NOW).await;
        let (run_id, top) = fixture.failed(&graph, NOW + 1).await;
        assert_eq!(fixture.prune(&[top, open]).await, 0, "a node stays as long as the run of its workflow");
        assert_eq!(fixture.prune(&[run_id]).await, 1);
        for (table, left) in [("workflow_run", 1), ("workflow_node", 4)] {
            assert_eq!(fixture.count(table, "1 = 1").await, left, "{table}");
            assert_eq!(fixture.count(table, &format!("run_id = {open}")).await, left, "{table}");
        }
        assert_eq!(fixture.prune(&[top]).await, 1);
        assert_eq!(fixture.graphs_of(&graph).await, 1, "the job has it");
    }

    // covers: 001-35
    async fn a_graph_goes_with_the_last_run_that_has_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(diamond()).await;
        let (first, _) = fixture.failed(&graph, NOW).await;
        let (second, _) = fixture.failed(&graph, NOW + 1).await;
        fixture.store.jobs().delete(graph.job.id, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.graphs_of(&graph).await, 1, "two runs have it");
        fixture.prune(&[first]).await;
        assert_eq!(fixture.graphs_of(&graph).await, 1);
        assert!(fixture.store.workflows().view(second).await.unwrap().is_some());
        fixture.prune(&[second]).await;
        assert_eq!(fixture.graphs_of(&graph).await, 0);
    }

    async fn rows_of_runs_that_are_gone_are_swept(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(diamond()).await;
        let kept = fixture.begun(&graph, NOW).await;
        fixture.sql("INSERT INTO workflow_run (run_id, job_id, version) VALUES (5, 77, 1)").await;
        fixture.sql("INSERT INTO workflow_node (run_id, node, job_id, state) VALUES (5, 0, 78, 0)").await;
        fixture.sql("INSERT INTO workflow_use (job_id, used_id) VALUES (77, 78)").await;
        fixture.sql("INSERT INTO workflow_graph (job_id, version, graph) VALUES (77, 1, '{}')").await;
        assert_eq!(fixture.store.retention().prune_orphans().await.unwrap(), 4);
        assert_eq!(fixture.store.retention().prune_orphans().await.unwrap(), 0);
        assert!(fixture.nodes(kept).await.starts_with("bottom waiting"), "{}", fixture.nodes(kept).await);
        assert_eq!((fixture.graphs_of(&graph).await, fixture.count("workflow_use", "1 = 1").await), (1, 4));
    }
}
