//! What every component works with: the database, the clock, the metrics and the settings. Alarms are raised here: the row is
//! written by `store::alarm::alarms`, in the transaction that causes it; the log and the metrics follow the commit.

use std::sync::Arc;

use carillon_scheduler::{AlarmKind, Clock};

use crate::executor::http::callback::CallbackUrls;
use crate::metrics::Metrics;
use crate::runtime::task_list::TaskList;
use crate::settings::Settings;
use carillon_store::Store;
use carillon_store::alarm::alarms::Alarm;
use carillon_store::db::sql::text::cut;

/// Of a text that an executor has a part in, in bytes.
pub(crate) const MAX_LOGGED_BYTES: usize = 300;

pub struct Context {
    pub store: Arc<Store>,
    pub clock: Arc<dyn Clock>,
    pub metrics: Arc<Metrics>,
    pub settings: Settings,
    /// Id of this node: random for each start, so that a restarted process is another node.
    pub node: String,
    /// Random, the same for all nodes of this database.
    pub cluster: String,
    /// Where the services of HTTP jobs report the ends of runs.
    pub callbacks: CallbackUrls,
    /// What this node runs.
    pub tasks: Arc<TaskList>,
}

impl Context {
    /// To be called when the transaction that wrote the alarm is committed.
    pub fn log_alarm(&self, alarm: &Alarm) {
        self.metrics.alarms.with_label_values(&[alarm.kind.as_str()]).inc();
        // Executors write a part of the text: as a quoted field it cannot pass for a line of the log.
        tracing::warn!(
            alarm.kind = %alarm.kind,
            job.id = alarm.job_id,
            run.id = alarm.run_id,
            alarm.text = ?cut(&alarm.text, MAX_LOGGED_BYTES),
            "alarm"
        );
    }

    /// An alarm that no write of ours causes. Call it once for each event, not in each round. An alarm that cannot be stored
    /// is logged: no caller could do more about it.
    pub async fn raise_alarm(&self, kind: AlarmKind, job_id: Option<i64>, run_id: Option<i64>, text: String) {
        let alarm = Alarm { kind, job_id, run_id, text };
        let text = alarm.text.clone();
        match self.store.alarms().raise_alone(alarm, self.clock.now()).await {
            Ok(raised) => self.log_alarm(&raised),
            Err(error) => tracing::error!(%error, alarm.text = text, "an alarm could not be stored"),
        }
    }

    /// Alarms of rows that were left out because they cannot be read; each row is reported once.
    pub(crate) async fn alarm_unreadable_rows(&self) {
        for row in self.store.take_unreadable() {
            let (job_id, run_id) = match row.table {
                "run" => (None, Some(row.id)),
                "job" => (Some(row.id), None),
                _ => (None, None),
            };
            let text = format!("the row of {} {} cannot be read and is left out: {}", row.table, row.id, row.reason);
            self.raise_alarm(AlarmKind::Stuck, job_id, run_id, text).await;
        }
    }
}
