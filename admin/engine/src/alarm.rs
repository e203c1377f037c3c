//! Alarms: the row is written by `store::alarm::alarms`, in the transaction that causes it; the log and the metrics hear of it here.

use carillon_scheduler::AlarmKind;

use crate::Pipeline;
use crate::store;
use crate::store::alarm::alarms::Alarm;
use crate::store::run::settle::follow_up::cut;

/// Of a text that an executor has a part in, in bytes.
pub(crate) const IN_THE_LOG: usize = 300;

impl Pipeline {
    /// To be called when the transaction that wrote the alarm is committed.
    pub fn tell_alarm(&self, alarm: &Alarm) {
        self.metrics.alarms.with_label_values(&[alarm.kind.as_str()]).inc();
        // Executors write a part of the text: as a quoted field it cannot pass for a line of the log.
        tracing::warn!(
            alarm.kind = %alarm.kind,
            job.id = alarm.job_id,
            run.id = alarm.run_id,
            alarm.text = ?cut(&alarm.text, IN_THE_LOG),
            "alarm"
        );
    }

    /// Alarms of rows that were left out because they cannot be read; each row is reported once.
    pub(crate) async fn tell_of_unreadable(&self) {
        for row in self.store.take_unreadable() {
            let (job_id, run_id) = match row.table {
                "run" => (None, Some(row.id)),
                _ => (Some(row.id), None),
            };
            let text = format!("the row of {} {} cannot be read and is left out: {}", row.table, row.id, row.reason);
            let raised = self.raise_alarm(AlarmKind::Stuck, job_id, run_id, &*text);
            if let Err(error) = raised.await {
                tracing::error!(%error, alarm.text = text, "an alarm could not be stored");
            }
        }
    }

    /// An alarm that no write of ours causes. Call it once for each event, not in each round.
    pub async fn raise_alarm(
        &self,
        kind: AlarmKind,
        job_id: Option<i64>,
        run_id: Option<i64>,
        text: impl Into<String>,
    ) -> store::Result<()> {
        let alarm = Alarm { kind, job_id, run_id, text: text.into() };
        let raised = self.store.raise_alone(alarm, self.clock.now()).await?;
        self.tell_alarm(&raised);
        Ok(())
    }
}
