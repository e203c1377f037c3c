//! What follows from a settled run: the next attempt, an alarm, or the end of an attempt that is no longer needed.

use carillon_scheduler::{Cause, RunState};
use sea_orm::{DatabaseTransaction, Value};

use super::{Finding, FollowUp, Row, Then};
use crate::store::{Result, Store};

impl Store {
    pub(super) async fn follow(
        &self,
        tx: &DatabaseTransaction,
        row: &Row,
        finding: &Finding,
        state: RunState,
        follow_up: &FollowUp,
        then: &mut Then,
    ) -> Result<()> {
        match state {
            RunState::Succeeded if matches!(row.state, RunState::Unknown | RunState::Lost) => {
                self.cancel_retries(tx, row, follow_up).await
            }
            RunState::Failed | RunState::Unknown | RunState::Lost
                if !matches!(row.state, RunState::Unknown | RunState::Lost) =>
            {
                if self.retry(tx, row, finding, follow_up, then).await? {
                    then.settled.retried.push(row.shard);
                    return Ok(());
                }
                self.raise_alarm(tx, row, finding, state, follow_up, then)
                    .await
            }
            _ => Ok(()),
        }
    }

    /// The next attempt, a run of its own. False: the job allows no further one, or is gone or paused.
    async fn retry(
        &self,
        tx: &DatabaseTransaction,
        row: &Row,
        finding: &Finding,
        follow_up: &FollowUp,
        then: &mut Then,
    ) -> Result<bool> {
        let text = "SELECT retries, enabled FROM job WHERE id = ?";
        let Some(job) = self.one(tx, text, vec![row.job_id.into()]).await? else {
            return Ok(false);
        };
        let (retries, enabled): (i32, bool) = (job.try_get_by_index(0)?, job.try_get_by_index(1)?);
        if row.attempt > retries || (row.cause == Cause::Schedule && !enabled) {
            return Ok(false);
        }
        let due_at = follow_up.now + follow_up.retry.delay_ms(row.attempt, follow_up.jitter);
        let Some(id) = then.runs.pop() else {
            return Ok(false);
        };
        // A broadcast's part goes to the executor of its number in the list of that time, so the address is not copied.
        let text = "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends) \
                    SELECT ?, job_id, app_id, shard, cause, fire_no, part, parts, attempt + 1, scheduled_at, ?, 0, 0, 0 FROM run WHERE id = ?";
        let values: Vec<Value> = vec![id.into(), due_at.into(), finding.run_id.into()];
        self.execute(tx, text, values).await?;
        let text = "INSERT INTO run_input (run_id, params, address) SELECT ?, params, address FROM run_input WHERE run_id = ?";
        self.execute(tx, text, vec![id.into(), finding.run_id.into()])
            .await?;
        Ok(true)
    }

    async fn cancel_retries(
        &self,
        tx: &DatabaseTransaction,
        row: &Row,
        follow_up: &FollowUp,
    ) -> Result<()> {
        let text = "UPDATE run SET state = 12, reason = 'late_result', finished_at = ? \
                    WHERE fire_no = ? AND job_id = ? AND cause = ? AND part = ? AND attempt > ? AND state = 0";
        let values = vec![
            follow_up.now.into(),
            row.fire_no.into(),
            row.job_id.into(),
            row.cause.code().into(),
            row.part.into(),
            row.attempt.into(),
        ];
        self.execute(tx, text, values).await?;
        Ok(())
    }

    /// Until channels exist an alarm is its row, a warning in the log (by the caller) and a count.
    async fn raise_alarm(
        &self,
        tx: &DatabaseTransaction,
        row: &Row,
        finding: &Finding,
        state: RunState,
        follow_up: &FollowUp,
        then: &mut Then,
    ) -> Result<()> {
        let message = format!(
            "run {} {state}: {}",
            finding.run_id,
            finding.message.as_deref().or(finding.reason).unwrap_or("")
        );
        let Some(id) = then.rows.pop() else {
            return Ok(());
        };
        let text = "INSERT INTO alarm (id, job_id, run_id, kind, message, created_at) VALUES (?, ?, ?, ?, ?, ?)";
        let values = vec![
            id.into(),
            row.job_id.into(),
            finding.run_id.into(),
            state.as_str().into(),
            message.into(),
            follow_up.now.into(),
        ];
        self.execute(tx, text, values).await?;
        then.settled.alarms.push(finding.run_id);
        Ok(())
    }
}
