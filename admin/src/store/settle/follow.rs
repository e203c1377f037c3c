//! What follows from a settled run: the next attempt, an alarm, or the end of an attempt that is no longer needed.

use crate::store::Transaction;
use carillon_scheduler::{AlarmKind, RunState};
use sea_orm::Value;

use super::children::Fire;
use super::{Finding, FollowUp, Then};
use crate::store::alarm::Alarm;
use crate::store::run_lock::Row;
use crate::store::{Result, Store};

pub const CANCEL_RETRIES: &str = "UPDATE run SET state = 12, reason = 'late_result', finished_at = ? \
     WHERE fire_no = ? AND job_id = ? AND cause = ? AND part = ? AND attempt > ? AND state = 0";

/// The job allows a further attempt, and is neither gone nor paused.
fn may_retry(row: &Row, then: &Then) -> bool {
    let owner = then.jobs.get(&row.job_id);
    owner.is_some_and(|job| row.attempt <= job.retries && job.lets_wait(row.cause))
}

impl Store {
    pub(super) async fn follow(
        &self,
        tx: &Transaction,
        row: &Row,
        finding: &Finding,
        state: RunState,
        follow_up: &FollowUp,
        then: &mut Then,
    ) -> Result<()> {
        if row.chained && row.state.on_its_way() && !state.on_its_way() {
            then.ended.push((row.job_id, row.fire_no));
        }
        if row.parent && state == RunState::Succeeded {
            then.done.insert(Fire::of(row));
        }
        if matches!(row.state, RunState::Unknown | RunState::Lost) && !state.is_open() {
            self.close_alarms_of(tx, finding.run_id, follow_up.now)
                .await?;
        }
        match state {
            RunState::Succeeded if matches!(row.state, RunState::Unknown | RunState::Lost) => {
                self.cancel_retries(tx, row, follow_up).await
            }
            RunState::Failed | RunState::Unknown | RunState::Lost
                if !matches!(row.state, RunState::Unknown | RunState::Lost) =>
            {
                if may_retry(row, then) {
                    self.retry(tx, row, finding, follow_up, then).await
                } else {
                    self.raise_for_run(tx, row, finding, state, follow_up, then)
                        .await
                }
            }
            _ => Ok(()),
        }
    }

    /// The next attempt, a run of its own.
    async fn retry(
        &self,
        tx: &Transaction,
        row: &Row,
        finding: &Finding,
        follow_up: &FollowUp,
        then: &mut Then,
    ) -> Result<()> {
        let Some(id) = then.runs.pop() else {
            return Ok(());
        };
        // The golden ratio spreads even those that are settled by one call.
        let jitter = (follow_up.jitter + id as f64 * 0.618_033_988_749_895).fract();
        let delay = then.jobs.get(&row.job_id).map(|job| &job.retry_delay);
        let due_at = follow_up.now + delay.map_or(0, |delay| delay.delay_ms(row.attempt, jitter));
        // A broadcast's part goes to the executor of its number in the list of that time, so the address is not copied.
        let text = "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, chained, parent) \
                    SELECT ?, job_id, app_id, shard, cause, fire_no, part, parts, attempt + 1, scheduled_at, ?, 0, 0, 0, chained, parent FROM run WHERE id = ? \
                    AND NOT EXISTS (SELECT 1 FROM run AS later WHERE later.fire_no = run.fire_no AND later.job_id = run.job_id \
                    AND later.cause = run.cause AND later.part = run.part AND later.attempt = run.attempt + 1)";
        let values: Vec<Value> = vec![id.into(), due_at.into(), finding.run_id.into()];
        if self.execute(tx, text, values).await?.rows_affected() == 0 {
            return Ok(());
        }
        then.settled.to_scan.push(row.shard);
        let text = "INSERT INTO run_input (run_id, params, address) SELECT ?, params, address FROM run_input WHERE run_id = ?";
        self.execute(tx, text, vec![id.into(), finding.run_id.into()])
            .await?;
        Ok(())
    }

    async fn cancel_retries(
        &self,
        tx: &Transaction,
        row: &Row,
        follow_up: &FollowUp,
    ) -> Result<()> {
        let values = vec![
            follow_up.now.into(),
            row.fire_no.into(),
            row.job_id.into(),
            row.cause.code().into(),
            row.part.into(),
            row.attempt.into(),
        ];
        self.execute(tx, CANCEL_RETRIES, values).await?;
        Ok(())
    }

    async fn raise_for_run(
        &self,
        tx: &Transaction,
        row: &Row,
        finding: &Finding,
        state: RunState,
        follow_up: &FollowUp,
        then: &mut Then,
    ) -> Result<()> {
        let why = finding.message.as_deref().or(finding.reason).unwrap_or("");
        let Some(id) = then.rows.pop() else {
            return Ok(());
        };
        let alarm = Alarm {
            kind: kind_of(state),
            job_id: Some(row.job_id),
            run_id: Some(finding.run_id),
            text: format!("run {} {state}: {why}", finding.run_id),
        };
        let alarm = self.raise(tx, id, alarm, follow_up.now).await?;
        then.settled.alarms.push(alarm);
        Ok(())
    }
}

fn kind_of(state: RunState) -> AlarmKind {
    match state {
        RunState::Unknown => AlarmKind::Unknown,
        RunState::Lost => AlarmKind::Lost,
        _ => AlarmKind::Failed,
    }
}
