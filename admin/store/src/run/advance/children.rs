//! Children: the jobs that run once after a fire has succeeded, all its parts by any of their attempts. What follows from the
//! last part sees all of them ended, as each end was committed before.

use carillon_scheduler::{AlarmKind, Cause, Millis};

use crate::alarm::alarms::Alarm;
use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::run::advance::advancing::{Advancing, Fire};
use crate::run::advance::fire_end::{COLUMNS, FireEnd, FireRun};
use crate::run::new_runs::NewRun;
use crate::views::RunStore;

impl RunStore<'_> {
    /// Records the children's runs of a fire, if all its parts have succeeded and they are not there yet.
    pub(crate) async fn insert_children_runs(
        self,
        tx: &Transaction,
        fire: Fire,
        now: Millis,
        work: &mut Advancing,
    ) -> Result<()> {
        let text = format!(
            "SELECT {COLUMNS} FROM run WHERE fire_no = ? AND job_id = ? AND cause = ? \
             AND app_id = (SELECT app_id FROM job WHERE id = ?) ORDER BY part, attempt"
        );
        let runs: Vec<FireRun> =
            self.all(tx, &text, values![fire.fire_no, fire.job_id, fire.cause, fire.job_id]).await?;
        let FireEnd::Succeeded { first_id, result, .. } = FireEnd::of(&runs) else {
            return Ok(());
        };
        let children: Vec<i64> = self.jobs().children_of(tx, &[fire.job_id]).await?.into_values().flatten().collect();
        let startable = self.apps().startable_children(tx, fire.job_id, &children).await?;
        for child in children {
            if !startable.contains(&child) && self.exists(tx, child).await? {
                let alarm = Alarm {
                    kind: AlarmKind::ChildNotStarted,
                    job_id: Some(fire.job_id),
                    run_id: Some(first_id),
                    text: format!(
                        "job {child} was not started after run {first_id}: its app does not let the app of its parent start its jobs"
                    ),
                };
                let id = work.rows.pop().ok_or(Error::Busy)?;
                work.advanced.alarms.push(self.alarms().raise(tx, id, alarm, now).await?);
                continue;
            }
            // Deleted, or named a moment ago: then the whole attempt is repeated.
            let Some(shard) = work.jobs.get(&child).map(|job| job.shard) else {
                if self.exists(tx, child).await? {
                    return Err(Error::Busy);
                }
                continue;
            };
            let id = work.runs.pop().ok_or(Error::Busy)?;
            let run =
                NewRun { id, job_id: child, cause: Cause::Child, fire_no: first_id, scheduled_at: now, due_at: now };
            if self.insert_child_run(tx, run).await? {
                self.pass_result(tx, id, child, result.as_deref()).await?;
                work.advanced.to_scan.push(shard);
            }
        }
        Ok(())
    }

    async fn exists(self, tx: &Transaction, job_id: i64) -> Result<bool> {
        Ok(self.tuple::<i64>(tx, "SELECT id FROM job WHERE id = ?", values![job_id]).await?.is_some())
    }

    /// The parent's result, unless the child has parameters of its own or does not take it.
    async fn pass_result(self, tx: &Transaction, run_id: i64, child: i64, result: Option<&str>) -> Result<()> {
        let Some(result) = result else {
            return Ok(());
        };
        let text = "INSERT INTO run_input (run_id, params, address) SELECT ?, ?, NULL FROM job WHERE id = ? AND takes_result = TRUE \
                    AND NOT EXISTS (SELECT 1 FROM job_params WHERE job_params.job_id = job.id AND job_params.params <> '')";
        let values = values![run_id, result, child];
        self.execute(tx, text, values).await.map(drop)
    }
}
