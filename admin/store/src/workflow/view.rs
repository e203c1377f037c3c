//! The progress of a workflow's run as people and API clients see it.

use std::sync::Arc;

use carillon_scheduler::Millis;
use carillon_scheduler::run::map::ItemState;
use carillon_scheduler::workflow::{Graph, NodeState};
use foldhash::HashMap;

use crate::error::Result;
use crate::views::WorkflowStore;
use crate::workflow::progress::node_of;

/// The run of a workflow that has begun.
#[derive(Clone, Debug)]
pub struct WorkflowView {
    pub graph: Arc<Graph>,
    /// In the order of the graph.
    pub nodes: Vec<NodeProgress>,
    /// Since when a person holds it, and who.
    pub held: Option<(Millis, String)>,
    /// The run that it goes on from.
    pub prior_run_id: Option<i64>,
}

#[derive(Clone, Debug)]
pub struct NodeProgress {
    pub name: String,
    pub job_id: i64,
    /// None: the job is gone.
    pub job: Option<String>,
    /// The app of its job.
    pub app_id: Option<i64>,
    pub state: NodeState,
    /// A person has said what became of it.
    pub is_decided: bool,
    /// Why it is in this state, where the state alone does not say it.
    pub why: String,
    /// The latest attempt of its fire.
    pub run_id: Option<i64>,
    pub attempts: i64,
    /// Its parts; 1: its fire is not split, 0: it has no run.
    pub parts: i32,
    pub parts_succeeded: i64,
    /// Of the map of `run_id`; 0: it has handed in none.
    pub items: i64,
    pub items_succeeded: i64,
    /// It ran in an earlier run of the workflow, and was not repeated.
    pub is_kept: bool,
    pub result: Option<String>,
    pub started_at: Option<Millis>,
    pub ended_at: Option<Millis>,
    /// Removed is what a person may not see who may not see its job.
    pub is_hidden: bool,
}

impl NodeProgress {
    /// Removes what a person may not see who may not see its job: name and state stay.
    pub fn hide(&mut self) {
        self.is_hidden = true;
        self.job = None;
        self.run_id = None;
        (self.parts, self.parts_succeeded) = (0, 0);
        (self.items, self.items_succeeded) = (0, 0);
        self.result = None;
        self.why.clear();
    }
}

row_struct! {
    struct Head {
        job_id: i64,
        version: Millis,
        held_at: Option<Millis>,
        held_by: Option<String>,
        prior_run_id: Option<i64>,
    }
}

row_struct! {
    struct Row {
        job_id: i64,
        job: Option<String>,
        app_id: Option<i64>,
        state: i16,
        decided: i16,
        why: Option<String>,
        result: Option<String>,
        started_at: Option<Millis>,
        ended_at: Option<Millis>,
    }
}

row_struct! {
    /// The runs of a node's fire.
    #[derive(Default)]
    struct Fire {
        node: i32,
        fire_no: i64,
        run_id: Option<i64>,
        attempts: i64,
        parts: i32,
        parts_succeeded: i64,
    }
}

impl WorkflowStore<'_> {
    /// None: it is no run of a workflow, or none that has begun.
    pub async fn view(self, run_id: i64) -> Result<Option<WorkflowView>> {
        let text = "SELECT job_id, version, held_at, held_by, prior_run_id FROM workflow_run WHERE run_id = ? AND version IS NOT NULL";
        let Some(head) = self.one::<Head>(&self.read, text, values![run_id]).await? else {
            return Ok(None);
        };
        let Head { job_id, version, held_at, held_by, prior_run_id } = head;
        let graph = self.graph(&self.read, job_id, version).await?;
        let text = "SELECT n.job_id, job.name AS job, job.app_id, n.state, n.decided, n.why, n.result, n.started_at, n.ended_at \
                    FROM workflow_node n LEFT JOIN job ON job.id = n.job_id WHERE n.run_id = ? ORDER BY n.node";
        let rows: Vec<Row> = self.all(&self.read, text, values![run_id]).await?;
        let mut fires = self.fires_of_nodes(run_id).await?;
        let items = self.items_of(fires.values().filter_map(|fire| fire.run_id)).await?;
        let nodes = graph.nodes.iter().zip(rows).enumerate().map(|(node, (definition, row))| {
            let fire = fires.remove(&(node as i32));
            let is_kept = fire.as_ref().is_some_and(|fire| node_of(fire.fire_no).0 != run_id);
            let fire = fire.unwrap_or_default();
            let (items, items_succeeded) = fire.run_id.and_then(|id| items.get(&id)).copied().unwrap_or_default();
            NodeProgress {
                name: definition.name.clone(),
                job_id: row.job_id,
                job: row.job,
                app_id: row.app_id,
                state: NodeState::from_code(row.state).unwrap_or(NodeState::Waiting),
                is_decided: row.decided != 0,
                why: row.why.unwrap_or_default(),
                run_id: fire.run_id,
                attempts: fire.attempts,
                parts: fire.parts,
                parts_succeeded: fire.parts_succeeded,
                items,
                items_succeeded,
                is_kept,
                result: row.result,
                started_at: row.started_at,
                ended_at: row.ended_at,
                is_hidden: false,
            }
        });
        let nodes = nodes.collect();
        let held = held_at.map(|at| (at, held_by.unwrap_or_default()));
        Ok(Some(WorkflowView { graph, nodes, held, prior_run_id }))
    }

    /// By the number of the node. `run_id` is the latest attempt of part 0.
    async fn fires_of_nodes(self, run_id: i64) -> Result<HashMap<i32, Fire>> {
        let text = "SELECT n.node, MAX(run.fire_no) AS fire_no, MAX(CASE WHEN run.part = 0 THEN run.id END) AS run_id, \
                    COUNT(DISTINCT run.attempt) AS attempts, MAX(run.parts) AS parts, \
                    COUNT(DISTINCT CASE WHEN run.state = {state.succeeded} THEN run.part END) AS parts_succeeded \
                    FROM workflow_node n JOIN run AS first_run ON first_run.id = n.first_run_id \
                    JOIN run ON run.fire_no = first_run.fire_no AND run.job_id = first_run.job_id AND run.cause = first_run.cause \
                    WHERE n.run_id = ? GROUP BY n.node";
        let fires: Vec<Fire> = self.all(&self.read, text, values![run_id]).await?;
        Ok(fires.into_iter().map(|fire| (fire.node, fire)).collect())
    }

    /// How many items these runs have handed in, and how many of them have succeeded.
    async fn items_of(self, run_ids: impl Iterator<Item = i64>) -> Result<HashMap<i64, (i64, i64)>> {
        let run_ids: Vec<i64> = run_ids.collect();
        let text = "SELECT run_id, COUNT(*), COUNT(CASE WHEN state = ? THEN 1 END) FROM map_item WHERE run_id IN ({ids}) GROUP BY run_id";
        let rows: Vec<(i64, i64, i64)> =
            self.tuples(&self.read, text, values![ItemState::Succeeded.code(), self.ids(&run_ids)]).await?;
        Ok(rows.into_iter().map(|(run_id, items, succeeded)| (run_id, (items, succeeded))).collect())
    }

    /// The workflow's run, and the name of the node, of which the run with this fire is a part. None: it is gone.
    pub async fn owner_of(self, fire_no: i64) -> Result<Option<(i64, String)>> {
        let (run_id, node) = node_of(fire_no);
        let graph = self.graph_of_run(&self.read, run_id).await?;
        Ok(graph.and_then(|graph| Some((run_id, graph.nodes.get(node)?.name.clone()))))
    }
}
