//! Why a job is paused, by whom, and until when. The row is there as long as the pause is.

use carillon_scheduler::{AlarmKind, Millis};

use crate::alarm::alarms::Alarm;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::views::JobStore;

/// The author of a pause that the engine makes.
pub const ENGINE: &str = "carillon";
/// Pauses that end, or jobs that are paused after failures, in one look; the others are in the next one.
const MOST: i64 = 200;

/// A pause of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobPause {
    /// Why; empty: nothing was noted.
    pub note: String,
    pub author: String,
    pub paused_at: Millis,
    /// None: until it is ended.
    pub ends_at: Option<Millis>,
}

/// What is noted when a job is paused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseNote {
    pub note: String,
    pub ends_at: Option<Millis>,
}

/// `CROSS`: SQLite keeps this order, and would walk all jobs otherwise.
pub(crate) const FAILING_TOO_OFTEN: &str = "SELECT f.job_id FROM job_failure f CROSS JOIN job j WHERE j.id = f.job_id \
     AND j.pause_after_failures > 0 AND f.failures >= j.pause_after_failures AND j.enabled = TRUE ORDER BY f.job_id LIMIT ?";

impl JobStore<'_> {
    /// Jobs whose pause is over, by the index of its ends.
    pub async fn ended_pauses(self, now: Millis) -> Result<Vec<i64>> {
        let text = "SELECT job_id FROM job_pause WHERE ends_at <= ? ORDER BY ends_at LIMIT ?";
        self.tuples(&self.engine_reads, text, values![now, MOST]).await
    }

    /// The job cannot be resumed when its pause is over: it stays paused, with the reason and an alarm, until a person resumes it.
    pub async fn stay_paused(self, job_id: i64, reason: &str, now: Millis) -> Result<Alarm> {
        let alarm_id = self.take_id(&ids::ROW).await?;
        let reason: String = reason.chars().take(500).collect();
        let tx = self.begin().await?;
        let text = "UPDATE job SET paused_reason = ? WHERE id = ? AND enabled = FALSE";
        self.execute(&tx, text, values![reason.as_str(), job_id]).await?;
        self.execute(&tx, "UPDATE job_pause SET ends_at = NULL WHERE job_id = ?", values![job_id]).await?;
        let alarm = Alarm { kind: AlarmKind::Paused, job_id: Some(job_id), run_id: None, text: reason };
        let alarm = self.alarms().raise(&tx, alarm_id, alarm, now).await?;
        tx.commit().await?;
        Ok(alarm)
    }

    /// Jobs that are to be paused. The table has those alone whose last fire failed.
    pub async fn failing_too_often(self) -> Result<Vec<i64>> {
        self.tuples(&self.engine_reads, FAILING_TOO_OFTEN, values![MOST]).await
    }

    /// How many fires of a locked job have failed in a row, if that is as many as it allows.
    pub(crate) async fn failures_to_pause(self, tx: &Transaction, job_id: i64) -> Result<Option<i32>> {
        let text = "SELECT f.failures FROM job_failure f JOIN job j ON j.id = f.job_id WHERE f.job_id = ? AND j.pause_after_failures > 0 \
                    AND f.failures >= j.pause_after_failures";
        self.tuple(tx, text, values![job_id]).await
    }

    /// Replaces the note of a pause that is there. `resume_from`: where the schedule goes on if it ends by itself.
    pub(crate) async fn write_pause(
        self,
        tx: &Transaction,
        job_id: i64,
        pause: &JobPause,
        resume_from: Option<Millis>,
    ) -> Result<()> {
        self.execute(tx, "DELETE FROM job_pause WHERE job_id = ?", values![job_id]).await?;
        let JobPause { note, author, paused_at, ends_at } = pause.clone();
        let row = named![job_id, note, author, paused_at, ends_at, resume_from_at: resume_from];
        self.insert_row(tx, "job_pause", row).await
    }

    /// The end of the pause of a job that is locked, if it is over, and where the schedule goes on.
    pub(crate) async fn ended_pause(
        self,
        tx: &Transaction,
        job_id: i64,
        now: Millis,
    ) -> Result<Option<Option<Millis>>> {
        let text = "SELECT resume_from_at FROM job_pause WHERE job_id = ? AND ends_at <= ?";
        self.tuple::<Option<Millis>>(tx, text, values![job_id, now]).await
    }

    /// The job that is paused has another schedule: it has missed nothing before this moment.
    pub(crate) async fn resume_no_earlier(self, tx: &Transaction, job_id: i64, from: Millis) -> Result<()> {
        let text = "UPDATE job_pause SET resume_from_at = ? WHERE job_id = ? AND resume_from_at IS NOT NULL";
        self.execute(tx, text, values![from, job_id]).await.map(drop)
    }

    /// Where the schedule of a job went on, if the end of its present pause came by itself.
    pub(crate) async fn resume_point_of_pause(self, tx: &Transaction, job_id: i64) -> Result<Option<Millis>> {
        let text = "SELECT resume_from_at FROM job_pause WHERE job_id = ?";
        Ok(self.tuple::<Option<Millis>>(tx, text, values![job_id]).await?.flatten())
    }

    /// A job that is enabled has no pause, and its count of failures starts again at 0.
    pub(crate) async fn drop_pause(self, tx: &Transaction, job_id: i64) -> Result<()> {
        for text in ["DELETE FROM job_pause WHERE job_id = ?", "DELETE FROM job_failure WHERE job_id = ?"] {
            self.execute(tx, text, values![job_id]).await?;
        }
        Ok(())
    }
}
