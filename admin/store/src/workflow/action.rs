//! What people decide about the run of a workflow, and its repetition. Each decision is a fact with its entry in the audit; what follows
//! from it is done by the next [`advance`](crate::workflow::advance), for which it leaves a note.

use carillon_scheduler::workflow::{Graph, NodeState, RerunFrom};
use carillon_scheduler::{AuditAction, Millis, RunState};
use serde_json::{Value, json};

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::run::advance::fire_end::not_succeeded;
use crate::run::follow_up::{FollowUp, Kind};
use crate::run::lock::LockMode;
use crate::run::settle::consequences::{RETRIES, RETRY_INPUT};
use crate::views::WorkflowStore;
use crate::workflow::progress::Progress;

/// What is decided about the run of a workflow that is on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkflowAction {
    /// Nothing new starts.
    Hold,
    Release,
    /// Another attempt of a node that has failed.
    Retry {
        node: String,
    },
    /// A node that waits is left out.
    Skip {
        node: String,
    },
    /// A node that waits or has failed counts as succeeded with this result.
    Succeed {
        node: String,
        result: Option<String>,
    },
    /// A node that waits counts as failed.
    Fail {
        node: String,
    },
}

impl WorkflowAction {
    fn detail(&self) -> Value {
        match self {
            Self::Hold => json!({"action": "hold"}),
            Self::Release => json!({"action": "release"}),
            Self::Retry { node } => json!({"action": "retry", "node": node}),
            Self::Skip { node } => json!({"action": "skip", "node": node}),
            Self::Succeed { node, .. } => json!({"action": "mark_succeeded", "node": node}),
            Self::Fail { node } => json!({"action": "mark_failed", "node": node}),
        }
    }

    fn node(&self) -> Option<&str> {
        match self {
            Self::Hold | Self::Release => None,
            Self::Retry { node } | Self::Skip { node } | Self::Succeed { node, .. } | Self::Fail { node } => Some(node),
        }
    }
}

/// The next attempt of an ended fire, by the latest one.
static RERUN: Bulk = Bulk::text(
    RETRIES,
    "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) \
     SELECT u.id, run.job_id, job.app_id, job.shard, run.cause, run.fire_no, run.part, run.parts, run.attempt + 1, run.scheduled_at, \
     u.due_at, {state.claimed}, 0, 0, run.follow & {follow.inherited} FROM {list} {join} run{index PRIMARY} ON run.id = u.old \
     {join} job{index PRIMARY} ON job.id = run.job_id",
);

impl WorkflowStore<'_> {
    /// Decides something about a run. Answers the shards with a new run.
    ///
    /// # Errors
    /// `Missing`: no run of a workflow, or no such node; `Refused`: not in its present state
    pub async fn decide(self, run_id: i64, action: &WorkflowAction, now: Millis, actor: &Actor) -> Result<Vec<i32>> {
        retry::on_conflict(|| self.try_decide(run_id, action, now, actor)).await
    }

    async fn try_decide(self, run_id: i64, action: &WorkflowAction, now: Millis, actor: &Actor) -> Result<Vec<i32>> {
        let audit = self.audit().pending_entry(actor, now).await?;
        let ids = match action {
            WorkflowAction::Retry { node } => {
                let parts = self.parts_to_retry(run_id, node).await?;
                self.take_ids(&ids::RUN, parts).await?
            }
            _ => vec![],
        };
        let tx = self.begin_change().await?;
        // Jobs are locked before runs.
        let job_id = match action.node() {
            Some(node) => Some(self.job_of_node(&tx, run_id, node).await?),
            None => None,
        };
        let jobs = self.runs().lock_jobs(&tx, job_id, LockMode::Wait).await?;
        self.runs().lock_runs(&tx, &[run_id], LockMode::Wait).await?;
        let mut progress = self.progress(&tx, run_id, &[]).await?.ok_or_else(|| no_workflow(run_id))?;
        if progress.run.state != RunState::Running {
            return Err(Error::refused("run", "has ended; what failed can be run again"));
        }
        let mut shards = vec![];
        match action {
            WorkflowAction::Hold | WorkflowAction::Release => {
                let held = (*action == WorkflowAction::Hold).then_some(now);
                let text = "UPDATE workflow_run SET held_at = ?, held_by = ? WHERE run_id = ?";
                let by = held.map(|_| actor.name.as_str());
                self.execute(&tx, text, values![held, by, run_id]).await?;
            }
            WorkflowAction::Retry { .. } if progress.run.kill_asked_at.is_some() || progress.run.timed_out => {
                return Err(Error::refused("run", "is being ended, so nothing more starts"));
            }
            WorkflowAction::Retry { node } => {
                let place = place_of(&progress.graph, run_id, node)?;
                self.retry_node(&tx, &mut progress, place, (ids, now)).await?;
                shards.extend(jobs.owners.values().map(|job| job.shard));
            }
            WorkflowAction::Skip { node } => {
                self.mark(&tx, &mut progress, node, (NodeState::Skipped, None, now)).await?;
            }
            WorkflowAction::Fail { node } => {
                self.mark(&tx, &mut progress, node, (NodeState::Failed, None, now)).await?;
            }
            WorkflowAction::Succeed { node, result } => {
                self.mark(&tx, &mut progress, node, (NodeState::Succeeded, result.clone(), now)).await?;
            }
        }
        let note = FollowUp { run_id, job_id: progress.run.job_id, kind: Kind::Workflow };
        self.runs().insert_follow_ups(&tx, &[note], now).await?;
        let object = AuditObject::run(run_id, progress.run.app_id);
        audit.commit(tx, AuditAction::Workflow, object, action.detail()).await?;
        Ok(shards)
    }

    async fn job_of_node(self, tx: &Transaction, run_id: i64, node: &str) -> Result<i64> {
        let run = self.held_run(tx, run_id).await?.ok_or_else(|| no_workflow(run_id))?;
        let graph = self.graph(tx, run.job_id, run.version.ok_or_else(|| no_workflow(run_id))?).await?;
        let place = place_of(&graph, run_id, node)?;
        // A stored graph names all jobs by id.
        Ok(graph.nodes[place].job.id().unwrap_or_default())
    }

    async fn mark(
        self,
        tx: &Transaction,
        progress: &mut Progress,
        node: &str,
        (state, result, now): (NodeState, Option<String>, Millis),
    ) -> Result<()> {
        let place = place_of(&progress.graph, progress.run.run_id, node)?;
        let row = &mut progress.nodes[place];
        let waits = matches!(row.state(), NodeState::Waiting | NodeState::Held) && row.first_run_id.is_none();
        let may = match state {
            NodeState::Succeeded => waits || row.state() == NodeState::Failed,
            _ => waits,
        };
        if !may {
            let allowed = if state == NodeState::Succeeded { "waits or has failed" } else { "waits" };
            return Err(Error::refused(
                "node",
                format!("is {}; only a node that {allowed} can be marked so", row.state()),
            ));
        }
        row.state = state.code();
        row.decided = 1;
        row.why = Some("decided by a person".to_owned());
        row.result = result;
        row.ended_at = Some(now);
        self.replace_nodes(tx, progress.run.run_id, &[&progress.nodes[place]]).await
    }

    /// How many parts of a node's fire have not succeeded, by what stands there without a lock.
    async fn parts_to_retry(self, run_id: i64, node: &str) -> Result<usize> {
        let Some(progress) = self.progress(&self.write, run_id, &[]).await? else {
            return Ok(0);
        };
        let place = place_of(&progress.graph, run_id, node)?;
        Ok(not_succeeded(&self.runs_of_nodes(&self.write, run_id, &[place]).await?).count())
    }

    /// The next attempt of each part that has not succeeded.
    async fn retry_node(
        self,
        tx: &Transaction,
        progress: &mut Progress,
        place: usize,
        (ids, now): (Vec<i64>, Millis),
    ) -> Result<()> {
        let row = &mut progress.nodes[place];
        if row.state() != NodeState::Failed || row.first_run_id.is_none() {
            return Err(Error::refused(
                "node",
                format!("is {}; only a node whose run has failed can be tried again", row.state()),
            ));
        }
        let runs = self.runs_of_nodes(tx, progress.run.run_id, &[place]).await?;
        let latest: Vec<i64> = not_succeeded(&runs).map(|run| run.id).collect();
        if latest.len() > ids.len() {
            // It was not foreseen.
            return Err(Error::Busy);
        }
        let attempts: Vec<_> = ids.into_iter().zip(latest).map(|(id, latest)| (id, latest, now)).collect();
        // None: a late result, from which nothing has followed yet, has made it needless.
        if !attempts.is_empty() && self.next_attempts(tx, &attempts).await? == 0 {
            return Err(Error::refused("node", "has a job that does not exist any more"));
        }
        row.state = NodeState::Running.code();
        row.decided = 0;
        row.why = None;
        row.ended_at = None;
        self.replace_nodes(tx, progress.run.run_id, &[&progress.nodes[place]]).await
    }

    /// Writes the next attempts of ended runs, with what was given with these; answers how many. None: their jobs are gone.
    async fn next_attempts(self, tx: &Transaction, attempts: &[(i64, i64, Millis)]) -> Result<u64> {
        let written = self.bulk(tx, &RERUN, &[], attempts).await?;
        if written > 0 {
            self.bulk(tx, &RETRY_INPUT, &[], attempts).await?;
        }
        Ok(written)
    }

    /// Repeats an ended run: the next attempt of its fire, with what is to be done again. Answers the new run and its shard.
    ///
    /// # Errors
    /// `Missing`: no run of a workflow, or no such node; `Refused`: it has not ended, or a later attempt is there
    pub async fn rerun(self, run_id: i64, from: &RerunFrom, now: Millis, actor: &Actor) -> Result<(i64, i32)> {
        let audit = self.audit().pending_entry(actor, now).await?;
        let id = self.take_id(&ids::RUN).await?;
        let tx = self.begin_change().await?;
        let job_id = self.held_run(&tx, run_id).await?.ok_or_else(|| no_workflow(run_id))?.job_id;
        let jobs = self.runs().lock_jobs(&tx, [job_id], LockMode::Wait).await?;
        self.runs().lock_runs(&tx, &[run_id], LockMode::Wait).await?;
        let run = self.held_run(&tx, run_id).await?.ok_or_else(|| no_workflow(run_id))?;
        run.version.ok_or_else(|| no_workflow(run_id))?;
        let Some(job) = jobs.owners.get(&run.job_id) else {
            return Err(Error::refused("run", "is of a job that does not exist any more"));
        };
        if run.state.is_open() {
            return Err(Error::refused("run", "has not ended; a node that failed can be tried again"));
        }
        // The repetition has the present definition.
        let text = "SELECT graph_version FROM job WHERE id = ?";
        let Some(version) = self.tuple::<Option<Millis>>(&tx, text, values![run.job_id]).await?.flatten() else {
            return Err(Error::refused("run", "is of a job that is no workflow any more"));
        };
        if let RerunFrom::Node(node) = from {
            let graph = self.graph(&tx, run.job_id, version).await?;
            place_of(&graph, run_id, node)?;
        }
        let text = "SELECT id FROM run AS later WHERE later.fire_no = ? AND later.job_id = ? AND later.cause = ? AND later.id <> ? \
                    AND later.attempt > (SELECT attempt FROM run WHERE run.id = ?) ORDER BY later.attempt DESC LIMIT 1";
        let values = values![run.fire_no, run.job_id, run.cause.code(), run_id, run_id];
        if let Some(later) = self.tuple::<i64>(&tx, text, values).await? {
            return Err(Error::refused("run", format!("was repeated by run {later}; repeat that one")));
        }
        self.next_attempts(&tx, &[(id, run_id, now)]).await?;
        let again = serde_json::to_string(from).map_err(|error| Error::Corrupt(error.to_string()))?;
        let row = values![id, run.job_id, run_id, again];
        self.insert_rows(&tx, "workflow_run", "run_id, job_id, prior_run_id, again", vec![row]).await?;
        let object = AuditObject::run(id, run.app_id);
        let detail = json!({"job": run.job_id, "rerun_of": run_id, "from": from});
        let shard = job.shard;
        audit.commit(tx, AuditAction::Run, object, detail).await?;
        Ok((id, shard))
    }

    /// The time of a run is over: what waits of it does not start, and what runs is ended.
    pub async fn time_out(self, run_id: i64, now: Millis) -> Result<()> {
        let tx = self.begin().await?;
        self.runs().lock_runs(&tx, &[run_id], LockMode::Wait).await?;
        let text = "UPDATE workflow_run SET timed_out = TRUE WHERE run_id = ?";
        self.execute(&tx, text, values![run_id]).await?;
        self.runs().note_held(&tx, run_id, now).await?;
        Ok(tx.commit().await?)
    }
}

fn place_of(graph: &Graph, run_id: i64, node: &str) -> Result<usize> {
    graph.find(node).ok_or_else(|| Error::Missing(format!("node {node:?} of run {run_id}")))
}

fn no_workflow(run_id: i64) -> Error {
    Error::Missing(format!("a workflow that run {run_id} has begun"))
}
