//! A job that cannot be planned is paused with its reason; it stops no other job.

use carillon_scheduler::{AlarmKind, AuditAction, AuditObjectKind, Millis};
use serde_json::json;

use crate::alarm::alarms::Alarm;
use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::error::Result;
use crate::run::claim::DueJob;
use crate::views::JobStore;

impl JobStore<'_> {
    /// Pauses the job if it is still the one that failed; its cursor is kept, so that enabling it goes on from there.
    /// Writes an alarm and an audit entry with it; None: it is not any more.
    pub async fn pause_unplannable(self, shard: i32, due: &DueJob, reason: &str, now: Millis) -> Result<Option<Alarm>> {
        let alarm_id = self.take_id(&ids::ROW).await?;
        let engine = Actor::engine();
        let audit = self.audit().pending_entry(&engine, now).await?;
        let reason: String = reason.chars().take(500).collect();
        let cursor_row = values![shard, due.next_fire_at, due.job_id, due.revision];
        let tx = self.begin().await?;
        let text = "UPDATE job SET enabled = FALSE, paused_reason = ?, resume_from_at = ?, revision = revision + 1, updated_at = ? \
                    WHERE id = ? AND revision = ? AND enabled = TRUE";
        let values = values![reason.as_str(), due.next_fire_at, now, due.job_id, due.revision];
        if self.execute(&tx, text, values).await? == 0 {
            // A clock row that belongs to no enabled job of its revision would be found again in each round.
            let text = "DELETE FROM job_clock WHERE shard = ? AND next_fire_at = ? AND job_id = ? AND revision = ? \
                        AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = job_clock.job_id AND job.revision = job_clock.revision AND job.enabled = TRUE)";
            self.execute(&tx, text, cursor_row).await?;
            tx.commit().await?;
            return Ok(None);
        }
        let text = "DELETE FROM job_clock WHERE shard = ? AND next_fire_at = ? AND job_id = ? AND revision = ?";
        if self.execute(&tx, text, cursor_row).await? == 0 {
            // Another holder has moved the cursor meanwhile, so it could plan the job.
            tx.rollback().await?;
            return Ok(None);
        }
        let alarm = Alarm { kind: AlarmKind::Paused, job_id: Some(due.job_id), run_id: None, text: reason.clone() };
        let alarm = self.alarms().raise(&tx, alarm_id, alarm, now).await?;
        let detail = json!({"before": {"enabled": true}, "after": {"enabled": false}, "reason": reason, "revision": due.revision + 1});
        let text = "SELECT app_id FROM job WHERE id = ?";
        let app_id = self.tuple(&tx, text, values![due.job_id]).await?;
        let object = AuditObject::new(AuditObjectKind::Job, due.job_id).in_app(app_id);
        audit.commit(tx, AuditAction::Pause, object, detail).await?;
        Ok(Some(alarm))
    }
}
