//! Alarms: the row is written by `store::alarm`, in the transaction that causes it; the log and the metrics hear of it here.

use carillon_scheduler::AlarmKind;

use super::Pipeline;
use crate::store;
use crate::store::alarm::Alarm;

impl Pipeline {
    /// To be called when the transaction that wrote the alarm is committed.
    pub fn tell_alarm(&self, alarm: &Alarm) {
        self.metrics
            .alarms
            .with_label_values(&[alarm.kind.as_str()])
            .inc();
        tracing::warn!(
            kind = %alarm.kind,
            job.id = alarm.job_id,
            run.id = alarm.run_id,
            "alarm: {}",
            alarm.text
        );
    }

    /// An alarm that no write of ours causes. Call it once for each event, not in each round.
    pub async fn raise_alarm(
        &self,
        kind: AlarmKind,
        job_id: Option<i64>,
        run_id: Option<i64>,
        text: impl Into<String>,
    ) -> store::Result<()> {
        let alarm = Alarm {
            kind,
            job_id,
            run_id,
            text: text.into(),
        };
        let raised = self.store.raise_alone(alarm, self.clock.now()).await?;
        self.tell_alarm(&raised);
        Ok(())
    }
}
