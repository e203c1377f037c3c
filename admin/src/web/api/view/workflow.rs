//! Workflows: the graph of a job as the API spells it, and the progress of a run.

use std::collections::BTreeMap;

use carillon_scheduler::workflow::NodeState as State;
use carillon_store::workflow::view::{NodeProgress, WorkflowView as Progress};
use serde_json::Value;
use utoipa::ToSchema;

use super::time::Time;
use super::view_macro::view;
use super::words;

view! {
    /// The progress of a workflow's run
    pub struct WorkflowProgressView as WorkflowProgress from progress: Progress {
        /// One for each node of the definition
        nodes: Vec<NodeView> = progress.nodes.into_iter().map(NodeView::from).collect(),
        /// Since when a person holds it: nothing new starts. Null: it is not held
        held_at: Option<Time> = progress.held.as_ref().map(|(at, _)| Time(*at)),
        /// Who holds it
        held_by: Option<String> = progress.held.map(|(_, by)| by),
        /// The run that it goes on from; null: it began at its first nodes
        prior_run_id: Option<i64>,
    }
}

view! {
    /// A node of a workflow's run
    pub struct NodeView as WorkflowNode from node: NodeProgress {
        /// Its name in the definition
        name: String,
        /// The job that it runs
        #[schema(minimum = 1)]
        job_id: i64,
        /// The name of the job; null: it is deleted, or the caller may not see it
        job: Option<String>,
        #[schema(value_type = words::NodeState)]
        state: String = state_of(node.state),
        /// Why it is in this state; empty: the state says it
        why: String,
        /// A person has said what became of it
        decided: bool = node.is_decided,
        /// Its run, the latest attempt; null: it has none
        run_id: Option<i64>,
        /// How often it was tried
        #[schema(minimum = 0)]
        attempts: i64,
        /// Its parts; 1: its fire is not split, 0: it has no run, or the caller may not see it
        #[schema(minimum = 0)]
        parts: i32,
        /// Parts that have succeeded
        #[schema(minimum = 0)]
        parts_succeeded: i64,
        /// Items that its run has handed in
        #[schema(minimum = 0)]
        items: i64,
        /// Items that have succeeded
        #[schema(minimum = 0)]
        items_succeeded: i64,
        /// It succeeded in an earlier run of the workflow, and was not repeated
        kept: bool = node.is_kept,
        /// What it handed on; null: nothing, or the caller may not see it
        result: Option<String>,
        started_at: Option<Time>,
        ended_at: Option<Time>,
    }
}

fn state_of(state: State) -> String {
    state.as_str().to_owned()
}

/// The jobs that a workflow runs, and in which order
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct Workflow {
    /// A template of the result: `{{nodes.load.result}}`. Left out: the result of the last node, or an object of the results of the last
    /// nodes
    #[schema(max_length = 65_536, required = false)]
    output: String,
    /// At most 500, by name: 1 to 63 lower case letters, digits and `-`
    nodes: BTreeMap<String, Node>,
}

/// A node of a workflow
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
#[schema(as = WorkflowNodeDefinition)]
pub struct Node {
    /// The id of a job, or its key: `extract`, or `app/extract` for a job of another app
    #[schema(value_type = Value)]
    job: Value,
    /// A template: `{{workflow.params}}`, `{{nodes.check.result#/rows}}`. Left out: the parameters of the job; if it has none, the result of
    /// the node before it, of several an object by their names
    #[schema(max_length = 65_536, required = false)]
    params: String,
    /// A template of a JSON list, in place of `params`: `{{nodes.list.result#/regions}}`. The node gets a part for each member, at most 1,000,
    /// with the member as its parameters; its result is the list of their results. An empty list: the node is skipped
    #[schema(max_length = 65_536, required = false)]
    for_each: String,
    /// The nodes before it: names, or objects with `node`, `on` (`success`, `failure`, `always`) and `when`. Empty: it starts at once
    #[schema(value_type = Vec<Value>, required = false)]
    after: Vec<Value>,
    /// `all`: it starts when all nodes before it have ended and one edge is taken; `any`: as soon as one edge is taken
    #[schema(default = "all", required = false)]
    join: String,
    /// `fail`: the workflow ends as failed, other branches go on. `ignore`: it counts as succeeded. `stop`: nothing new starts after a
    /// success
    #[schema(default = "fail", required = false)]
    if_failed: String,
}
