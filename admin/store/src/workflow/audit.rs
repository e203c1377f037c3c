//! What must never be in the records of workflows, for `carillon audit`.

use carillon_scheduler::workflow::NodeState;

use crate::error::Result;
use crate::views::WorkflowStore;

/// Something about the run of a workflow that cannot go on by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowFault {
    pub run_id: i64,
    pub job_id: i64,
    pub kind: FaultKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It is on its way, but nothing of it runs, nothing is to follow, and no person holds it.
    Stalled,
    /// The run of this node, by its number in the graph, does not exist.
    MissingRun { node: i32, node_run_id: i64 },
}

/// A transaction that ends the last open node leaves a note, and one that takes the note starts the next node or leaves one: what has
/// neither in one look has stalled.
const STALLED: &str = "SELECT run.id, run.job_id FROM workflow_run w JOIN run ON run.id = w.run_id \
     WHERE run.state = {state.running} AND run.state < {state.final} AND w.version IS NOT NULL AND w.held_at IS NULL \
     AND NOT EXISTS (SELECT 1 FROM run AS member WHERE member.fire_no BETWEEN run.id * 1024 AND run.id * 1024 + 1023 \
     AND member.cause = {cause.node} AND member.state IN ({state.pending})) \
     AND NOT EXISTS (SELECT 1 FROM follow_up f JOIN run AS noted ON noted.id = f.run_id \
     WHERE noted.id = run.id OR (noted.cause = {cause.node} AND noted.fire_no BETWEEN run.id * 1024 AND run.id * 1024 + 1023)) ORDER BY run.id";

/// A node that was kept from an earlier run of the workflow may have outlived the run of it.
const MISSING: &str = "SELECT n.run_id, w.job_id, n.node, n.first_run_id FROM workflow_node n JOIN workflow_run w ON w.run_id = n.run_id \
     LEFT JOIN run ON run.id = n.first_run_id WHERE n.first_run_id IS NOT NULL AND run.id IS NULL \
     AND NOT (w.prior_run_id IS NOT NULL AND n.state = ? AND n.decided = 0) ORDER BY n.run_id, n.node";

impl WorkflowStore<'_> {
    /// What is wrong now with runs of workflows.
    pub async fn faults(self) -> Result<Vec<WorkflowFault>> {
        let stalled: Vec<(i64, i64)> = self.tuples(&self.read, STALLED, vec![]).await?;
        let missing: Vec<(i64, i64, i32, i64)> =
            self.tuples(&self.read, MISSING, values![NodeState::Succeeded.code()]).await?;
        let stalled =
            stalled.into_iter().map(|(run_id, job_id)| WorkflowFault { run_id, job_id, kind: FaultKind::Stalled });
        let missing = missing.into_iter().map(|(run_id, job_id, node, node_run_id)| WorkflowFault {
            run_id,
            job_id,
            kind: FaultKind::MissingRun { node, node_run_id },
        });
        Ok(stalled.chain(missing).collect())
    }
}
