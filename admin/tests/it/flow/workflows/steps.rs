//! A workflow on a node of the tests: each of its nodes has a job of its own.

use carillon_scheduler::workflow::{NodeJob, WorkflowDraft};
use carillon_scheduler::{JobDraft, RunState};
use carillon_store::workflow::view::{NodeProgress, WorkflowView};
use carillon_store::{Job, RunView};
use serde_json::Value;

use crate::flow::node::Node;

pub struct Steps<'a> {
    pub node: &'a Node,
    pub job: Job,
    /// The jobs of its nodes.
    pub jobs: Vec<(String, Job)>,
}

impl<'a> Steps<'a> {
    /// `nodes` as the API spells them, without their jobs.
    pub async fn new(node: &'a Node, nodes: Value, change: impl FnOnce(&mut JobDraft)) -> Self {
        let mut jobs = vec![];
        let mut workflow = draft(nodes);
        for (name, it) in &mut workflow.nodes {
            if it.job == NodeJob::Id(1) {
                let job = node.job(|_| ()).await;
                it.job = NodeJob::Id(job.id);
                jobs.push((name.clone(), job));
            }
        }
        let job = node
            .job(|draft| {
                draft.handler = String::new();
                draft.workflow = Some(workflow);
                change(draft);
            })
            .await;
        Self { node, job, jobs }
    }

    /// Fires it, and takes its first nodes to their executor.
    pub async fn fire(&self) -> i64 {
        let run_id = self.node.fire(&self.job).await;
        self.go_on().await;
        run_id
    }

    /// What is to be started is started and sent.
    pub async fn go_on(&self) {
        self.node.round().await;
        self.node.round().await;
    }

    pub fn job(&self, name: &str) -> &Job {
        &self.jobs.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no node {name}")).1
    }

    /// The latest run of a node.
    pub async fn run(&self, name: &str) -> RunView {
        let runs = self.node.runs(self.job(name)).await;
        runs.into_iter().next_back().unwrap_or_else(|| panic!("node {name} has no run"))
    }

    pub async fn runs(&self, name: &str) -> usize {
        self.node.runs(self.job(name)).await.len()
    }

    /// The executor reports the end of the latest run of a node.
    pub async fn end(&self, name: &str, code: i32, text: &str) {
        let run = self.run(name).await;
        assert_eq!(run.state, RunState::Running, "{name}");
        self.node.callback(&[(run.id, code, text)]).await;
        self.go_on().await;
    }

    pub async fn view(&self, run_id: i64) -> WorkflowView {
        self.node.store.workflows().view(run_id).await.unwrap().unwrap()
    }

    /// The states of all nodes by name, as `a succeeded, b waiting`.
    pub async fn states(&self, run_id: i64) -> String {
        let text = |node: &NodeProgress| format!("{} {}", node.name, node.state);
        self.view(run_id).await.nodes.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    pub async fn why(&self, run_id: i64, name: &str) -> String {
        self.view(run_id).await.nodes.into_iter().find(|node| node.name == name).unwrap().why
    }

    pub async fn workflow_run(&self, run_id: i64) -> RunView {
        self.node.store.runs().get(run_id).await.unwrap().unwrap()
    }
}

fn draft(mut nodes: Value) -> WorkflowDraft {
    for node in nodes.as_object_mut().unwrap().values_mut() {
        if node.get("job").is_none() {
            node["job"] = 1.into();
        }
    }
    serde_json::from_value(serde_json::json!({"nodes": nodes})).unwrap()
}
