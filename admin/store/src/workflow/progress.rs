//! The progress of a workflow's run as its rows show it.

use std::sync::Arc;

use carillon_scheduler::workflow::{Graph, NodeState};
use carillon_scheduler::{Cause, Millis, RunState, Zone};
use foldhash::{HashMap, HashSet};
use sea_orm::ConnectionTrait;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::rows::Code;
use crate::error::Result;
use crate::job::stored_job::schedule_of;
use crate::run::advance::fire_end::{COLUMNS, FireEnd, FireRun};
use crate::views::WorkflowStore;

/// Nodes of a run have numbers below this; the number of a node's fire is made of the run and the node. Statements that ask for the run
/// of a fire shift by its 10 bits.
const NODES: i64 = 1024;

pub(crate) fn fire_of(run_id: i64, node: usize) -> i64 {
    run_id * NODES + node as i64
}

/// The run of the workflow, and the node, of a fire with the cause `node`.
pub fn node_of(fire_no: i64) -> (i64, usize) {
    (fire_no / NODES, (fire_no % NODES) as usize)
}

row_struct! {
    /// The run of a workflow.
    #[derive(Clone, Debug)]
    pub(crate) struct HeldRun {
        pub run_id: i64,
        pub job_id: i64,
        pub app_id: i64,
        pub state: RunState as Code,
        pub cause: Cause as Code,
        pub fire_no: i64,
        pub scheduled_at: Millis,
        pub due_at: Millis,
        pub kill_asked_at: Option<Millis>,
        /// None: it has not begun.
        pub version: Option<Millis>,
        pub params: Option<String>,
        pub timed_out: bool,
        pub held_at: Option<Millis>,
        /// None: the job is gone.
        pub schedule: Option<String>,
    }
}

impl HeldRun {
    /// The zone of its job's schedule.
    pub fn zone(&self) -> Zone {
        self.schedule.as_ref().map_or(Zone::UTC, |text| schedule_of(text.clone()).zone())
    }
}

row_struct! {
    /// A node as it is recorded.
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct NodeRow {
        pub node: i32,
        pub job_id: i64,
        pub state: i16,
        /// A person has said what became of it.
        pub decided: i16,
        pub why: Option<String>,
        pub first_run_id: Option<i64>,
        pub prior_run_id: Option<i64>,
        pub result: Option<String>,
        pub started_at: Option<Millis>,
        pub ended_at: Option<Millis>,
    }
}

pub(crate) const NODE_COLUMNS: &str =
    "node, job_id, state, decided, why, first_run_id, prior_run_id, result, started_at, ended_at";

pub(crate) struct Progress {
    pub run: HeldRun,
    pub graph: Arc<Graph>,
    /// In the order of the graph.
    pub nodes: Vec<NodeRow>,
    /// The fires of nodes that are open, or whose ends are new.
    pub fires: HashMap<usize, FireEnd>,
    /// Whether the jobs of nodes that have not started have parameters of their own, a list of their parts' texts among them, or do
    /// not take their parent's result.
    pub has_params: Vec<bool>,
}

impl NodeRow {
    pub fn values(&self, run_id: i64) -> Vec<sea_orm::Value> {
        let Self { node, job_id, state, decided, first_run_id, prior_run_id, started_at, ended_at, .. } = *self;
        let why = self.why.as_deref().map(|why| crate::db::sql::text::cut(why, 500));
        let result = self.result.clone();
        values![run_id, node, job_id, state, decided, why, first_run_id, prior_run_id, result, started_at, ended_at]
    }
}

impl WorkflowStore<'_> {
    /// None: it is no run of a workflow, or none that has begun.
    pub(crate) async fn progress(
        self,
        db: &impl ConnectionTrait,
        run_id: i64,
        new_ends: &[usize],
    ) -> Result<Option<Progress>> {
        let Some(run) = self.held_run(db, run_id).await? else {
            return Ok(None);
        };
        let Some(version) = run.version else {
            return Ok(None);
        };
        let graph = self.graph(db, run.job_id, version).await?;
        let nodes = self.node_rows(db, run_id).await?;
        let is_new = |row: &NodeRow| new_ends.contains(&(row.node as usize));
        let asked = |row: &&NodeRow| row.first_run_id.is_some() && (row.is_running() || is_new(row));
        let numbers: Vec<usize> = nodes.iter().filter(asked).map(|row| row.node as usize).collect();
        let fires = self.fires(db, run_id, &numbers, &graph).await?;
        let has_params = self.has_params(db, &graph, &nodes).await?;
        Ok(Some(Progress { run, graph, nodes, fires, has_params }))
    }

    pub(crate) async fn held_run(self, db: &impl ConnectionTrait, run_id: i64) -> Result<Option<HeldRun>> {
        let text = "SELECT run.id AS run_id, run.job_id, run.app_id, run.state, run.cause, run.fire_no, run.scheduled_at, run.due_at, \
                    run.kill_asked_at, w.version, w.params, w.timed_out, w.held_at, job.schedule_text AS schedule \
                    FROM run JOIN workflow_run w ON w.run_id = run.id LEFT JOIN job ON job.id = run.job_id WHERE run.id = ?";
        self.one(db, text, values![run_id]).await
    }

    /// How many runs of workflows are on their way, in shards of these numbers.
    pub async fn count_open(self, shards: i32) -> Result<i64> {
        let shards: Vec<i64> = (0..i64::from(shards)).collect();
        let text = "SELECT COUNT(*) FROM run{index run_open} WHERE shard IN ({ids}) AND state = {state.running} AND state < {state.final} \
                    AND (follow & {follow.held_map}) = {follow.held}";
        Ok(self.tuple(&self.engine_reads, text, values![self.ids(&shards)]).await?.unwrap_or_default())
    }

    pub(crate) async fn node_rows(self, db: &impl ConnectionTrait, run_id: i64) -> Result<Vec<NodeRow>> {
        let text = format!("SELECT {NODE_COLUMNS} FROM workflow_node WHERE run_id = ? ORDER BY node");
        self.all(db, &text, values![run_id]).await
    }

    /// Those of these runs of which a node waits or runs.
    pub(crate) async fn with_open_nodes(self, tx: &Transaction, run_ids: &[i64]) -> Result<HashSet<i64>> {
        if run_ids.is_empty() {
            return Ok(HashSet::default());
        }
        let states = [NodeState::Waiting, NodeState::Held, NodeState::Running].map(|state| i64::from(state.code()));
        let text = "SELECT DISTINCT run_id FROM workflow_node WHERE run_id IN ({ids}) AND state IN ({ids})";
        Ok(self.tuples(tx, text, values![self.ids(run_ids), self.ids(&states)]).await?.into_iter().collect())
    }

    async fn fires(
        self,
        db: &impl ConnectionTrait,
        run_id: i64,
        nodes: &[usize],
        graph: &Graph,
    ) -> Result<HashMap<usize, FireEnd>> {
        let mut fires = HashMap::default();
        if nodes.is_empty() {
            return Ok(fires);
        }
        let runs = self.runs_of_nodes(db, run_id, nodes).await?;
        for of_fire in runs.chunk_by(|run, next| run.fire_no == next.fire_no) {
            let (node, end) = (node_of(of_fire[0].fire_no).1, FireEnd::of(of_fire));
            let is_list = graph.nodes.get(node).is_some_and(|node| node.for_each.is_some());
            fires.insert(node, if is_list { end.of_list(of_fire) } else { end });
        }
        Ok(fires)
    }

    /// All runs of these nodes, in the order of part and attempt.
    pub(crate) async fn runs_of_nodes(
        self,
        db: &impl ConnectionTrait,
        run_id: i64,
        nodes: &[usize],
    ) -> Result<Vec<FireRun>> {
        let numbers: Vec<i64> = nodes.iter().map(|node| fire_of(run_id, *node)).collect();
        let text = format!(
            "SELECT {COLUMNS} FROM run WHERE fire_no IN ({{ids}}) AND cause = {{cause.node}} ORDER BY fire_no, part, attempt"
        );
        self.all(db, &text, values![self.ids(&numbers)]).await
    }

    async fn has_params(self, db: &impl ConnectionTrait, graph: &Graph, nodes: &[NodeRow]) -> Result<Vec<bool>> {
        let waiting = nodes.iter().filter(|row| row.first_run_id.is_none());
        let jobs: Vec<i64> = waiting.map(|row| row.job_id).collect();
        let mut own: Vec<i64> = vec![];
        if graph.nodes.iter().any(|node| node.params.is_none() && !node.after.is_empty()) && !jobs.is_empty() {
            let text = "SELECT job.id FROM job LEFT JOIN job_params ON job_params.job_id = job.id \
                        WHERE job.id IN ({ids}) AND (job.takes_result = FALSE OR job_params.params <> '' \
                        OR EXISTS (SELECT 1 FROM job_part WHERE job_part.job_id = job.id))";
            own = self.tuples(db, text, values![self.ids(&jobs)]).await?;
        }
        let has = |job: Option<i64>| job.is_none_or(|job| own.contains(&job));
        Ok(graph.nodes.iter().map(|node| has(node.job.id())).collect())
    }
}
