//! The beginning of a workflow's run: it goes on without an executor, and its nodes are there.

use carillon_scheduler::workflow::{Before, Graph, NodeState, Repeat, RerunFrom, repeats};
use carillon_scheduler::{Millis, RunEvent, RunState};

use crate::db::failpoint;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::run::adopt::ClaimedRun;
use crate::run::follow_up::{FollowUp, Kind};
use crate::run::lock::LockMode;
use crate::views::WorkflowStore;
use crate::workflow::progress::{NODE_COLUMNS, NodeRow};

impl WorkflowStore<'_> {
    /// Begins the run, with these parameters. False: it is no longer ours to begin.
    pub async fn hold(self, run: &ClaimedRun, params: &str, now: Millis) -> Result<bool> {
        retry::on_conflict(|| self.try_hold(run, params, now)).await
    }

    async fn try_hold(self, run: &ClaimedRun, params: &str, now: Millis) -> Result<bool> {
        let Some(running) = RunState::Claimed.on(RunEvent::Held) else {
            return Ok(false);
        };
        let tx = self.begin().await?;
        // An edit that cancels what waits of this job is before or after it.
        self.runs().lock_jobs(&tx, [run.job_id], LockMode::Wait).await?;
        let text = "UPDATE run SET state = ?, sent_at = ?, follow = follow | {follow.held} WHERE id = ? AND state = {state.claimed} \
                    AND epoch = ?";
        if self.execute(&tx, text, values![running.code(), now.max(run.due_at), run.run_id, run.epoch]).await? == 0 {
            return Ok(false);
        }
        let text = "SELECT graph_version FROM job WHERE id = ?";
        let version: Option<Option<Millis>> = self.tuple(&tx, text, values![run.job_id]).await?;
        let version = version.flatten().ok_or_else(|| Error::Missing(format!("the graph of job {}", run.job_id)))?;
        let graph = self.graph(&tx, run.job_id, version).await?;
        let prior = self.write_run(&tx, run, version, params).await?;
        let rows = match prior {
            Some((prior_id, from)) => self.continued(&tx, &graph, prior_id, &from).await?,
            None => fresh(&graph).collect(),
        };
        self.insert_nodes(&tx, run.run_id, rows.iter()).await?;
        let begun = FollowUp { run_id: run.run_id, job_id: run.job_id, kind: Kind::Workflow };
        self.runs().insert_follow_ups(&tx, &[begun], now).await?;
        failpoint::hit("before_hold_commit");
        tx.commit().await?;
        failpoint::hit("after_hold_commit");
        Ok(true)
    }

    /// Notes which graph the run has. Answers the run that it goes on from, if there is one.
    async fn write_run(
        self,
        tx: &Transaction,
        run: &ClaimedRun,
        version: Millis,
        params: &str,
    ) -> Result<Option<(i64, RerunFrom)>> {
        let text = "SELECT prior_run_id, again FROM workflow_run WHERE run_id = ?";
        let planned: Option<(Option<i64>, Option<String>)> = self.tuple(tx, text, values![run.run_id]).await?;
        if let Some((prior, from)) = planned {
            let text = "UPDATE workflow_run SET version = ?, params = ? WHERE run_id = ?";
            self.execute(tx, text, values![version, params, run.run_id]).await?;
            let from = from.and_then(|from| serde_json::from_str(&from).ok());
            return Ok(prior.map(|prior| (prior, from.unwrap_or(RerunFrom::Failed))));
        }
        let prior = self.prior_attempt(tx, run).await?;
        let row = values![run.run_id, run.job_id, version, prior, params];
        self.insert_rows(tx, "workflow_run", "run_id, job_id, version, prior_run_id, params", vec![row]).await?;
        Ok(prior.map(|prior| (prior, RerunFrom::Failed)))
    }

    /// The latest earlier attempt of the same fire that has begun.
    async fn prior_attempt(self, tx: &Transaction, run: &ClaimedRun) -> Result<Option<i64>> {
        if run.attempt <= 1 {
            return Ok(None);
        }
        let text = "SELECT run.id FROM run JOIN workflow_run w ON w.run_id = run.id WHERE run.fire_no = ? AND run.job_id = ? \
                    AND run.cause = ? AND run.attempt < ? AND w.version IS NOT NULL ORDER BY run.attempt DESC LIMIT 1";
        self.tuple(tx, text, values![run.fire_no, run.job_id, run.cause.code(), run.attempt]).await
    }

    /// The nodes of a run that goes on from another one: what is not to be done again is there already.
    async fn continued(self, tx: &Transaction, graph: &Graph, prior_id: i64, from: &RerunFrom) -> Result<Vec<NodeRow>> {
        let Some(prior) = self.held_run(tx, prior_id).await?.and_then(|run| Some((run.job_id, run.version?))) else {
            return Ok(fresh(graph).collect());
        };
        let before_graph = self.graph(tx, prior.0, prior.1).await?;
        let rows = self.node_rows(tx, prior_id).await?;
        let named: Vec<(&str, &NodeRow)> =
            before_graph.nodes.iter().map(|node| node.name.as_str()).zip(rows.iter()).collect();
        let row_of = |name: &str| named.iter().find(|(known, _)| *known == name).map(|(_, row)| *row);
        let before = named.iter().map(|(name, row)| {
            let is_same = graph.is_same_node(&before_graph, name);
            ((*name).to_owned(), Before { state: row.state(), is_decided: row.decided != 0, is_same })
        });
        let repeats = repeats(graph, from, &before.collect());
        let continued = fresh(graph).zip(repeats).zip(&graph.nodes).map(|((row, repeat), node)| {
            let earlier = row_of(&node.name);
            match earlier.filter(|_| repeat == Repeat::Keep) {
                Some(kept) => NodeRow { node: row.node, ..kept.clone() },
                // A workflow among the nodes goes on from what failed in it.
                None => {
                    let failed = earlier.filter(|earlier| earlier.state() == NodeState::Failed);
                    let goes_on = failed.filter(|_| !matches!(from, RerunFrom::All));
                    NodeRow { prior_run_id: goes_on.and_then(|earlier| earlier.first_run_id), ..row }
                }
            }
        });
        Ok(continued.collect())
    }

    /// Writes these nodes in the place of what stands there of them.
    pub(crate) async fn replace_nodes(self, tx: &Transaction, run_id: i64, rows: &[&NodeRow]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let numbers: Vec<i64> = rows.iter().map(|row| i64::from(row.node)).collect();
        let text = "DELETE FROM workflow_node WHERE run_id = ? AND node IN ({ids})";
        self.execute(tx, text, values![run_id, self.ids(&numbers)]).await?;
        self.insert_nodes(tx, run_id, rows.iter().copied()).await
    }

    async fn insert_nodes(self, tx: &Transaction, run_id: i64, rows: impl Iterator<Item = &NodeRow>) -> Result<()> {
        let rows = rows.map(|row| row.values(run_id)).collect();
        self.insert_rows(tx, "workflow_node", &format!("run_id, {NODE_COLUMNS}"), rows).await
    }
}

/// The nodes of a run that has just begun.
fn fresh(graph: &Graph) -> impl Iterator<Item = NodeRow> {
    (0i32..).zip(&graph.nodes).map(|(number, node)| NodeRow {
        node: number,
        // A stored graph names all jobs by id.
        job_id: node.job.id().unwrap_or_default(),
        state: NodeState::Waiting.code(),
        decided: 0,
        why: None,
        first_run_id: None,
        prior_run_id: None,
        result: None,
        started_at: None,
        ended_at: None,
    })
}
