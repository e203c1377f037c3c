//! What goes with the run of a workflow: its progress, and graphs that nothing has any more.

use carillon_scheduler::Millis;

use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::views::WorkflowStore;

/// Of graphs that neither a job nor a run has.
const UNUSED: &str = "NOT EXISTS (SELECT 1 FROM workflow_run w WHERE w.job_id = workflow_graph.job_id AND w.version = workflow_graph.version) \
     AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = workflow_graph.job_id AND job.graph_version = workflow_graph.version)";

impl WorkflowStore<'_> {
    /// Deletes the progress of runs that go in this transaction, with the graphs that they alone have had.
    pub(crate) async fn prune(self, tx: &Transaction, run_ids: &[i64]) -> Result<()> {
        let text = "SELECT DISTINCT job_id, version FROM workflow_run WHERE run_id IN ({ids}) AND version IS NOT NULL";
        let graphs: Vec<(i64, Millis)> = self.tuples(tx, text, values![self.ids(run_ids)]).await?;
        self.delete_by_id(tx, "workflow_run", "run_id", run_ids).await?;
        self.delete_by_id(tx, "workflow_node", "run_id", run_ids).await?;
        for (job_id, version) in graphs {
            // A job never gets a graph back that it has had: what is unused once stays so.
            let text = format!("SELECT version FROM workflow_graph WHERE job_id = ? AND version = ? AND {UNUSED}");
            if self.tuple::<Millis>(tx, &text, values![job_id, version]).await?.is_some() {
                let text = "DELETE FROM workflow_graph WHERE job_id = ? AND version = ?";
                self.execute(tx, text, values![job_id, version]).await?;
            }
        }
        Ok(())
    }

    /// Deletes the progress of runs that are gone, and graphs that nothing has; answers how many.
    pub(crate) async fn prune_orphans(self) -> Result<u64> {
        let mut done = 0;
        for table in ["workflow_run", "workflow_node"] {
            let text =
                format!("DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = {table}.run_id)");
            done += self.execute(&self.write, &text, vec![]).await?;
        }
        let text = "DELETE FROM workflow_use WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.id = workflow_use.job_id)";
        done += self.execute(&self.write, text, vec![]).await?;
        done += self.execute(&self.write, &format!("DELETE FROM workflow_graph WHERE {UNUSED}"), vec![]).await?;
        Ok(done)
    }
}
