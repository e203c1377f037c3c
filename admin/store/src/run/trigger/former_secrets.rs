//! Runs that have not been sent when their job moves to another app: what they repeat names secrets of the former app, and must not open
//! those of the new one, which may have the same names.

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::long;
use crate::error::Result;
use crate::job::stored_job::Job;
use crate::views::RunStore;

static FORGET_SAVED: Bulk = Bulk::update(
    &[long("run_id")],
    Update {
        table: "run_input",
        index: "PRIMARY",
        on: "run_input.run_id = u.run_id",
        set: &[("repeats_saved", "FALSE")],
        only_if: "",
    },
);

impl RunStore<'_> {
    /// The runs of a job that has moved, after they have: those that were marked meanwhile have stayed with the former app, which may have
    /// sent them its secrets.
    pub(crate) async fn forget_secrets_of(self, tx: &Transaction, job: &Job) -> Result<()> {
        let text = "SELECT run.id FROM run JOIN run_input AS i ON i.run_id = run.id WHERE run.shard = ? AND run.state = {state.claimed} \
                    AND run.state < {state.final} AND run.job_id = ? AND run.app_id = ? AND i.repeats_saved = TRUE ORDER BY run.id";
        let ids: Vec<i64> = self.tuples(tx, text, values![job.shard, job.id, job.app_id]).await?;
        self.forget_saved(tx, &ids).await
    }

    /// Of these runs, whose jobs have moved, those that were not sent after all.
    pub(crate) async fn forget_secrets_of_unsent(self, tx: &Transaction, run_ids: &[i64]) -> Result<()> {
        if run_ids.is_empty() {
            return Ok(());
        }
        let text = "SELECT id FROM run WHERE id IN ({ids}) AND state = {state.claimed} ORDER BY id";
        let ids: Vec<i64> = self.tuples(tx, text, values![self.ids(run_ids)]).await?;
        self.forget_saved(tx, &ids).await
    }

    async fn forget_saved(self, tx: &Transaction, run_ids: &[i64]) -> Result<()> {
        if !run_ids.is_empty() {
            self.bulk(tx, &FORGET_SAVED, &[], run_ids).await?;
        }
        Ok(())
    }
}
