//! What the tests start from: workflows whose nodes have a job each, and runs of them.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::workflow::{NodeJob, WorkflowDraft};
use carillon_scheduler::{Cause, JobDraft, RunState};
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::{Job, Store};
use serde_json::{Value, json};

use crate::conformance::fixture::{Fixture, NOW, Row, draft};
use crate::conformance::hot::outcome::settle::FOLLOW_UP;
use crate::conformance::hot::rows::RunRow;
use crate::services::{Kind, TestDatabase};

pub struct Graph {
    pub job: Job,
    /// By the names of the nodes, in the order of the graph.
    pub jobs: Vec<(String, Job)>,
}

/// `left` and `right` after `top`, `bottom` after both.
pub fn diamond() -> Value {
    json!({"top": {}, "left": {"after": ["top"]}, "right": {"after": ["top"]}, "bottom": {"after": ["left", "right"]}})
}

impl Graph {
    pub fn job(&self, node: &str) -> &Job {
        &self.jobs.iter().find(|(name, _)| name == node).unwrap_or_else(|| panic!("no node {node}")).1
    }

    /// The definition without one of its nodes.
    pub fn without(&self, node: &str) -> JobDraft {
        let mut draft = self.job.draft.clone();
        draft.workflow.as_mut().unwrap().nodes.retain(|(name, _)| name != node);
        draft
    }
}

impl Fixture {
    /// `nodes` as the API spells them, without their jobs.
    pub async fn graph(&self, nodes: Value) -> Graph {
        self.graph_with(nodes, |_, _| ()).await
    }

    /// The same; `change` changes the jobs of the nodes by their names, and that of the workflow, `workflow`.
    pub async fn graph_with(&self, mut nodes: Value, change: impl Fn(&str, &mut JobDraft)) -> Graph {
        for node in nodes.as_object_mut().unwrap().values_mut() {
            node["job"] = 1.into();
        }
        let mut workflow: WorkflowDraft = serde_json::from_value(json!({"nodes": nodes})).unwrap();
        let mut jobs = vec![];
        for (name, node) in &mut workflow.nodes {
            let mut draft = draft(name);
            change(name, &mut draft);
            let job = self.create(&draft).await;
            node.job = NodeJob::Id(job.id);
            jobs.push((name.clone(), job));
        }
        let mut draft = JobDraft { handler: String::new(), workflow: Some(workflow), ..draft("workflow") };
        change("workflow", &mut draft);
        Graph { job: self.create(&draft).await, jobs }
    }

    /// A run that waits, as the holder of its shard sees it.
    pub async fn fire_of_graph(&self, graph: &Graph, fire_no: i64) -> ClaimedRun {
        let run_id = self.run(&graph.job, Row { fire_no, ..Row::default() }).await;
        self.claimed(run_id).await
    }

    pub async fn claimed(&self, run_id: i64) -> ClaimedRun {
        let row = self.row(run_id).await;
        ClaimedRun {
            run_id,
            job_id: row.job_id,
            shard: row.shard,
            epoch: row.epoch,
            cause: Cause::from_code(row.cause).unwrap(),
            fire_no: row.fire_no,
            part: row.part,
            parts: row.parts,
            attempt: row.attempt,
            scheduled_at: row.scheduled_at,
            due_at: row.due_at,
            bound_to: None,
            asked_parts: None,
            expires_at: None,
            traceparent: None,
            priority: None,
            is_patient: false,
        }
    }

    /// A run that has begun and whose first nodes run.
    pub async fn begun(&self, graph: &Graph, fire_no: i64) -> i64 {
        let run = self.fire_of_graph(graph, fire_no).await;
        assert!(self.store.workflows().hold(&run, "", NOW).await.unwrap());
        self.go_on().await;
        self.send().await;
        run.run_id
    }

    /// All that is noted follows, also what ends workflows. What another session holds up is tried again.
    pub async fn go_on(&self) {
        for _ in 0..200 {
            let noted = self.noted().await;
            if noted.is_empty() {
                return;
            }
            let advanced = self.store.runs().advance(&noted, FOLLOW_UP.now).await.unwrap();
            self.store.runs().settle(&advanced.to_end, &FOLLOW_UP).await.unwrap();
        }
        panic!("notes are left: {:?}", self.noted().await);
    }

    pub async fn noted(&self) -> Vec<i64> {
        let rows = self.rows("SELECT DISTINCT run_id FROM follow_up ORDER BY run_id").await;
        rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
    }

    /// Executors take all runs of nodes that wait.
    pub async fn send(&self) {
        self.sql(&format!("UPDATE run SET state = 2 WHERE state = 0 AND cause = {}", Cause::Node.code())).await;
    }

    /// The runs of a node, of all runs of the workflow.
    pub async fn of_node(&self, graph: &Graph, node: &str) -> Vec<RunRow> {
        let cause = Cause::Node.code();
        self.rows_where(&format!("cause = {cause} AND job_id = {}", graph.job(node).id)).await
    }

    /// The only run of a node in this run of the workflow.
    pub async fn only(&self, graph: &Graph, run_id: i64, node: &str) -> RunRow {
        let of_run = |row: &RunRow| row.fire_no / 1024 == run_id;
        let mut rows: Vec<RunRow> = self.of_node(graph, node).await.into_iter().filter(of_run).collect();
        assert_eq!(rows.len(), 1, "{node}: {rows:?}");
        rows.remove(0)
    }

    /// The states of all nodes by name, as `a succeeded, b waiting`.
    pub async fn nodes(&self, run_id: i64) -> String {
        let view = self.store.workflows().view(run_id).await.unwrap().unwrap();
        view.nodes.iter().map(|node| format!("{} {}", node.name, node.state)).collect::<Vec<_>>().join(", ")
    }

    pub async fn state(&self, run_id: i64) -> RunState {
        self.row(run_id).await.state()
    }
}

/// Two nodes on one database; SQLite takes only one.
pub async fn two(fixture: &Fixture, db: &TestDatabase) -> [Arc<Store>; 2] {
    let one = fixture.store.clone();
    let other = match db.kind() {
        Kind::Sqlite => one.clone(),
        _ => Store::open_for(&db.store(), Duration::from_secs(10), carillon_scheduler::Zone::UTC).await.unwrap(),
    };
    [one, other]
}
