//! The schedules that are in force, without anything else of their jobs: what a look ahead needs.

use foldhash::HashMap;

use carillon_scheduler::Millis;
use sea_orm::FromQueryResult;

use crate::calendar::pinned::Calendars;
use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::views::JobStore;

/// A schedule in force. Its text is parsed by the caller, so that one bad row spoils only itself.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct EnabledSchedule {
    pub job_id: i64,
    pub app: String,
    pub schedule_text: String,
    pub anchor_at: Millis,
    pub spread_offset: i32,
    #[sea_orm(skip)]
    pub calendars: Calendars,
    pub fires_left: Option<i32>,
    #[sea_orm(skip)]
    pub next_fire_at: Millis,
}

impl JobStore<'_> {
    /// Up to `limit` enabled jobs that fire next before `before`, and when. One walk over the narrow table, which has no
    /// index by job.
    pub async fn firing_before(self, before: Millis, limit: u32, visible: &VisibleApps) -> Result<Vec<(i64, Millis)>> {
        let condition = visible.and_job("job_id");
        let text = format!("SELECT job_id, next_fire_at FROM job_clock WHERE next_fire_at < ?{condition} LIMIT ?");
        let values = values![before, i64::from(limit)];
        self.tuples(&self.read, &text, values).await
    }

    /// The schedules of these jobs; those that do not exist any more are left out.
    pub async fn in_force(self, firing: &[(i64, Millis)]) -> Result<Vec<EnabledSchedule>> {
        let ids: Vec<i64> = firing.iter().map(|(id, _)| *id).collect();
        let text = "SELECT j.id AS job_id, a.name AS app, j.schedule_text, j.anchor_at, j.spread_offset, j.fires_left \
                    FROM job j JOIN app a ON a.id = j.app_id WHERE j.id IN ({ids})";
        let mut found: Vec<EnabledSchedule> = self.all(&self.read, text, values![self.ids(&ids)]).await?;
        let named = |it: &&EnabledSchedule| it.schedule_text.contains("\"calendars\"");
        let ids: Vec<i64> = found.iter().filter(named).map(|it| it.job_id).collect();
        let mut calendars = self.calendars().calendars_of(&self.read, &ids).await?;
        let next: HashMap<i64, Millis> = firing.iter().copied().collect();
        for job in &mut found {
            job.calendars = calendars.remove(&job.job_id).unwrap_or_default();
            job.next_fire_at = next.get(&job.job_id).copied().unwrap_or_default();
        }
        Ok(found)
    }
}
