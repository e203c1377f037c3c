//! How often the runs of a job have met its objective.

use carillon_scheduler::Millis;

use crate::error::Result;
use crate::run::view::dashboard::RECENT_RUN_IDS;
use crate::views::RunStore;

const DAY: Millis = 86_400_000;

/// Runs that have started, or wait and are late already, by when they were due; and how many of them have started in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartShares {
    pub last_day: i64,
    pub met_last_day: i64,
    pub last_week: i64,
    pub met_last_week: i64,
}

impl RunStore<'_> {
    /// Of the newest runs of all jobs: the run table has no index by job.
    pub async fn start_shares(self, job_id: i64, within_seconds: i32, now: Millis) -> Result<StartShares> {
        let above = self.newest_run().await? - RECENT_RUN_IDS;
        let (within, day, week) = (Millis::from(within_seconds) * 1_000, now - DAY, now - 7 * DAY);
        let text = "SELECT COUNT(CASE WHEN due_at >= ? THEN 1 END), COUNT(CASE WHEN due_at >= ? AND sent_at - due_at <= ? THEN 1 END), \
                    COUNT(*), COUNT(CASE WHEN sent_at - due_at <= ? THEN 1 END) FROM run \
                    WHERE id > ? AND job_id = ? AND due_at >= ? AND (sent_at > 0 OR state = {state.claimed} AND due_at < ?)";
        let values = values![day, day, within, within, above, job_id, week, now - within];
        let counts: Option<(i64, i64, i64, i64)> = self.tuple(&self.read, text, values).await?;
        let (last_day, met_last_day, last_week, met_last_week) = counts.unwrap_or_default();
        Ok(StartShares { last_day, met_last_day, last_week, met_last_week })
    }
}
