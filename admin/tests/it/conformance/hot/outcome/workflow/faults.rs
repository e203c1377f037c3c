//! What the audit finds in the records of workflows.

use carillon_scheduler::workflow::RerunFrom;
use carillon_store::workflow::action::WorkflowAction;
use carillon_store::workflow::audit::{FaultKind, WorkflowFault};
use serde_json::json;

use super::graphs::{Graph, diamond};
use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure, success};

impl Fixture {
    async fn faults(&self) -> Vec<WorkflowFault> {
        self.store.workflows().faults().await.unwrap()
    }

    async fn decided(&self, run_id: i64, action: WorkflowAction) {
        self.store.workflows().decide(run_id, &action, NOW, &actor()).await.unwrap();
        self.go_on().await;
    }
}

fn fault(graph: &Graph, run_id: i64, kind: FaultKind) -> WorkflowFault {
    WorkflowFault { run_id, job_id: graph.job.id, kind }
}

databases! {
    // covers: I14
    async fn a_workflow_that_nothing_moves_is_found(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(diamond()).await;
        let run = fixture.fire_of_graph(&graph, NOW).await;
        assert!(fixture.store.workflows().hold(&run, "", NOW).await.unwrap());
        assert_eq!(fixture.faults().await, [], "it has just begun");
        fixture.go_on().await;
        fixture.send().await;
        assert_eq!(fixture.faults().await, [], "a node runs");
        fixture.decided(run.run_id, WorkflowAction::Hold).await;
        let top = fixture.only(&graph, run.run_id, "top").await.id;
        fixture.store.runs().settle(&[success(top)], &FOLLOW_UP).await.unwrap();
        assert_eq!(fixture.faults().await, [], "the end is noted");
        fixture.go_on().await;
        assert_eq!(fixture.faults().await, [], "a person holds it");
        fixture.sql("UPDATE workflow_run SET held_at = NULL").await;
        assert_eq!(fixture.faults().await, [fault(&graph, run.run_id, FaultKind::Stalled)]);
        fixture.store.runs().wake_held(run.run_id, NOW).await.unwrap();
        assert_eq!(fixture.faults().await, []);
        fixture.go_on().await;
        assert_eq!(fixture.faults().await, []);
    }

    // covers: I14
    async fn a_node_whose_run_is_gone_is_found(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(json!({"a": {}, "b": {}})).await;
        let run_id = fixture.begun(&graph, NOW).await;
        let (a, b) = (fixture.only(&graph, run_id, "a").await.id, fixture.only(&graph, run_id, "b").await.id);
        fixture.store.runs().settle(&[success(a), failure(b)], &FOLLOW_UP).await.unwrap();
        fixture.go_on().await;
        let again = fixture.store.workflows().rerun(run_id, &RerunFrom::Failed, NOW, &actor()).await.unwrap().0;
        let again = fixture.claimed(again).await;
        assert!(fixture.store.workflows().hold(&again, "", NOW).await.unwrap());
        fixture.go_on().await;
        assert_eq!(fixture.faults().await, []);
        fixture.sql(&format!("DELETE FROM run WHERE id = {a}")).await;
        let missing = fault(&graph, run_id, FaultKind::MissingRun { node: 0, node_run_id: a });
        assert_eq!(fixture.faults().await, [missing], "the repetition has kept its result, which may outlive it");
    }
}
