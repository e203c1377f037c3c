//! Graphs of jobs. A job's row names the current one; a graph is never changed, so that a run keeps the one that it began with.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use carillon_scheduler::workflow::{Graph, IfFailed, WorkflowDraft};
use carillon_scheduler::{BlockStrategy, Millis, RouteStrategy};
use sea_orm::ConnectionTrait;

use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::job::stored_job::Job;
use crate::views::WorkflowStore;
use crate::workflow::progress::node_of;

/// The graph of a job as a row has it. None: what stands there is none.
pub(crate) fn graph_of(text: &str) -> Option<Graph> {
    serde_json::from_str::<WorkflowDraft>(text).ok()?.graph().ok()
}

/// Why a job cannot be that of a node with `for_each`.
pub(crate) const UNSPLITTABLE: &str = "its job cannot be split into parts: it is a workflow, has the route `broadcast`, or a block strategy \
                                       other than `serial`";

impl WorkflowStore<'_> {
    /// Those of these jobs whose fires cannot be split.
    pub(crate) async fn unsplittable(self, db: &impl ConnectionTrait, jobs: &[i64]) -> Result<Vec<i64>> {
        if jobs.is_empty() {
            return Ok(vec![]);
        }
        let text = "SELECT id FROM job WHERE id IN ({ids}) AND (graph_version IS NOT NULL OR route = ? OR block <> ?)";
        let (broadcast, serial) = (RouteStrategy::Broadcast.as_str(), BlockStrategy::Serial.as_str());
        self.tuples(db, text, values![self.ids(jobs), broadcast, serial]).await
    }

    /// Stores the graphs of new jobs.
    pub(crate) async fn insert_graphs(self, tx: &Transaction, jobs: &[Job]) -> Result<()> {
        let with_graph = || jobs.iter().filter_map(|job| Some((job, job.graph_version?, job.draft.workflow.as_ref()?)));
        let (mut graphs, mut uses) = (vec![], vec![]);
        for (job, version, workflow) in with_graph() {
            graphs.push(values![job.id, version, text_of(workflow)?]);
            uses.extend(jobs_in(workflow).into_iter().map(|used| values![job.id, used]));
        }
        self.insert_rows(tx, "workflow_graph", "job_id, version, graph", graphs).await?;
        self.insert_rows(tx, "workflow_use", "job_id, used_id", uses).await
    }

    /// Gives a locked job the graph of its new definition.
    pub(crate) async fn apply_graph(self, tx: &Transaction, old: &Job, new: &mut Job, now: Millis) -> Result<()> {
        if old.draft.workflow == new.draft.workflow {
            new.graph_version = old.graph_version;
            return Ok(());
        }
        self.execute(tx, "DELETE FROM workflow_use WHERE job_id = ?", values![old.id]).await?;
        if new.draft.workflow.is_some() {
            let text = "SELECT COALESCE(MAX(version), 0) FROM workflow_graph WHERE job_id = ?";
            let newest: Option<Millis> = self.tuple(tx, text, values![old.id]).await?;
            new.graph_version = Some(now.max(newest.unwrap_or_default() + 1));
            self.insert_graphs(tx, std::slice::from_ref(new)).await?;
        } else {
            new.graph_version = None;
        }
        self.drop_unused_graphs(tx, new).await
    }

    /// Graphs that neither the job nor a run has.
    async fn drop_unused_graphs(self, tx: &Transaction, job: &Job) -> Result<()> {
        let text = "DELETE FROM workflow_graph WHERE job_id = ? AND version <> ? AND NOT EXISTS (SELECT 1 FROM workflow_run \
                    WHERE workflow_run.job_id = workflow_graph.job_id AND workflow_run.version = workflow_graph.version)";
        self.execute(tx, text, values![job.id, job.graph_version.unwrap_or_default()]).await.map(drop)
    }

    /// A job that is deleted. Open runs keep the graph that they have.
    pub(crate) async fn drop_graph(self, tx: &Transaction, job: &Job) -> Result<()> {
        self.execute(tx, "DELETE FROM workflow_use WHERE job_id = ?", values![job.id]).await?;
        self.drop_unused_graphs(tx, &Job { graph_version: None, ..job.clone() }).await
    }

    /// The workflows that have this job as a node, by id and name.
    pub async fn users_of(self, job_id: i64) -> Result<Vec<(i64, String)>> {
        self.users_in(&self.read, job_id).await
    }

    pub(crate) async fn users_in(self, db: &impl ConnectionTrait, job_id: i64) -> Result<Vec<(i64, String)>> {
        let text = "SELECT job.id, job.name FROM workflow_use JOIN job ON job.id = workflow_use.job_id \
                    WHERE workflow_use.used_id = ? ORDER BY job.id";
        self.tuples(db, text, values![job_id]).await
    }

    /// The jobs that the graphs of these jobs run.
    pub(crate) async fn uses_of(self, db: &impl ConnectionTrait, job_ids: &[i64]) -> Result<Vec<(i64, i64)>> {
        let text = "SELECT job_id, used_id FROM workflow_use WHERE job_id IN ({ids}) ORDER BY job_id, used_id";
        self.tuples(db, text, values![self.ids(job_ids)]).await
    }

    /// Those of these runs of nodes, given with the numbers of their fires, whose failure the definition of their workflow ignores.
    pub(crate) async fn ignored_failures(self, tx: &Transaction, runs: &[(i64, i64)]) -> Result<Vec<i64>> {
        if runs.is_empty() {
            return Ok(vec![]);
        }
        let owners: BTreeSet<i64> = runs.iter().map(|(_, fire_no)| node_of(*fire_no).0).collect();
        let text = "SELECT run_id, job_id, version FROM workflow_run WHERE run_id IN ({ids}) AND version IS NOT NULL";
        let versions: Vec<(i64, i64, Millis)> =
            self.tuples(tx, text, values![self.ids(&Vec::from_iter(owners))]).await?;
        let mut graphs: BTreeMap<(i64, Millis), Option<Arc<Graph>>> = BTreeMap::new();
        for (_, job_id, version) in &versions {
            if let Entry::Vacant(entry) = graphs.entry((*job_id, *version)) {
                // One that cannot be read ignores nothing.
                entry.insert(self.graph(tx, *job_id, *version).await.ok());
            }
        }
        let is_ignored = |fire_no: i64| {
            let (owner, node) = node_of(fire_no);
            let (_, job_id, version) = versions.iter().find(|(run_id, ..)| *run_id == owner)?;
            let node = graphs.get(&(*job_id, *version))?.as_ref()?.nodes.get(node)?;
            Some(node.if_failed == IfFailed::Ignore)
        };
        Ok(runs.iter().filter(|(_, fire_no)| is_ignored(*fire_no) == Some(true)).map(|(run_id, _)| *run_id).collect())
    }

    pub(crate) async fn graph(self, db: &impl ConnectionTrait, job_id: i64, version: Millis) -> Result<Arc<Graph>> {
        if let Some(graph) = self.graphs.get((job_id, version)) {
            return Ok(graph);
        }
        let text = "SELECT graph FROM workflow_graph WHERE job_id = ? AND version = ?";
        let graph: Option<String> = self.tuple(db, text, values![job_id, version]).await?;
        let graph = graph.as_deref().and_then(graph_of).ok_or_else(|| unreadable(job_id, version))?;
        let graph = Arc::new(graph);
        self.graphs.keep((job_id, version), &graph);
        Ok(graph)
    }

    /// None: it is no run of a workflow, or none that has begun.
    pub(crate) async fn graph_of_run(self, db: &impl ConnectionTrait, run_id: i64) -> Result<Option<Arc<Graph>>> {
        let text = "SELECT job_id, version FROM workflow_run WHERE run_id = ? AND version IS NOT NULL";
        let Some((job_id, version)) = self.tuple(db, text, values![run_id]).await? else {
            return Ok(None);
        };
        Ok(Some(self.graph(db, job_id, version).await?))
    }
}

fn text_of(workflow: &WorkflowDraft) -> Result<String> {
    serde_json::to_string(workflow).map_err(|error| Error::Corrupt(error.to_string()))
}

fn unreadable(job_id: i64, version: Millis) -> Error {
    Error::Corrupt(format!("graph {version} of job {job_id} is missing or cannot be read"))
}

/// The jobs of a workflow. A stored one names all of them by id.
pub fn jobs_in(workflow: &WorkflowDraft) -> BTreeSet<i64> {
    workflow.nodes.iter().filter_map(|(_, node)| node.job.id()).collect()
}
