//! A broadcast becomes one part for each of its executors.

use std::iter::once;

use carillon_scheduler::Cause;

use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{int, long, text};
use crate::error::Result;
use crate::run::adopt::ClaimedRun;
use crate::run::lock::LockMode;
use crate::views::RunStore;

/// All parts but the first, which is the run itself; what is the same in all of them comes from its row.
pub(crate) static INSERT_PARTS: Bulk = Bulk::text(
    &[long("id"), int("part"), text("address", "VARCHAR(255)")],
    "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, address, \
     follow) SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, u.part, run.parts, run.attempt, run.scheduled_at, \
     run.due_at, {state.claimed}, run.epoch, :node, 0, u.address, run.follow FROM {list} {join} run{index PRIMARY} ON run.id = :run",
);

impl RunStore<'_> {
    /// Fixes the executors of a broadcast: part 0 is bound to the first address, a part is added for each other one. As many
    /// statements for two executors as for a thousand. Empty: the run is no longer ours to expand.
    pub async fn expand_broadcast(self, run: &ClaimedRun, addresses: &[String], node: &str) -> Result<Vec<ClaimedRun>> {
        let Some((first, others)) = addresses.split_first() else {
            return Ok(vec![]);
        };
        let ids = self.take_ids(&crate::db::ids::RUN, others.len()).await?;
        let parts = addresses.len() as i32;
        let tx = self.begin().await?;
        // An edit that cancels what waits of this job would not see parts that are added beside it.
        self.lock_jobs(&tx, [run.job_id], LockMode::Wait).await?;
        let text = "UPDATE run SET parts = ?, address = ? WHERE id = ? AND state = {state.claimed} AND epoch = ? AND address IS NULL";
        let values = values![parts, first.as_str(), run.run_id, run.epoch];
        if self.execute(&tx, text, values).await? == 0 {
            return Ok(vec![]);
        }
        if !others.is_empty() {
            let rows: Vec<_> =
                ids.iter().zip(1i32..).zip(others).map(|((id, part), at)| (*id, part, at.as_str())).collect();
            self.bulk(&tx, &INSERT_PARTS, &named![node, run: run.run_id], &rows).await?;
            // Nothing is given with a fire of the schedule.
            if run.cause != Cause::Schedule {
                let text = "INSERT INTO run_input (run_id, params, address) WITH part (id) AS ({ids}) \
                            SELECT part.id, given.params, NULL FROM part CROSS JOIN run_input AS given WHERE given.run_id = ?";
                self.execute(&tx, text, values![self.ids(&ids), run.run_id]).await?;
            }
        }
        tx.commit().await?;
        let all_ids = once(run.run_id).chain(ids);
        Ok((0i32..)
            .zip(all_ids.zip(addresses))
            .map(|(part, (run_id, address))| ClaimedRun {
                run_id,
                part,
                parts,
                bound_to: Some(address.clone()),
                ..run.clone()
            })
            .collect())
    }
}
