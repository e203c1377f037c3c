//! Jobs whose next fire depends on the time zone data: after an update of the data they are planned again.

use carillon_scheduler::Millis;

use crate::audit::actor::Actor;
use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::job::change::{ChangedJob, JobChange};
use crate::job::stored_job::Job;
use crate::views::CalendarStore;

/// The row of `setting` with the edition of the zone data that all jobs are planned with.
const PLANNED_WITH: &str = "zone_data";

/// Jobs that were looked at.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ZonePage {
    /// The highest id; None: there are no more jobs.
    pub last: Option<i64>,
    /// Those whose next fire may be another one by the data of this process.
    pub changed: Vec<i64>,
}

impl CalendarStore<'_> {
    /// The edition of the zone data that all jobs are planned with; None on a new database.
    pub async fn planned_zone_data(self) -> Result<Option<String>> {
        self.leases().setting(&self.engine_reads, PLANNED_WITH).await
    }

    pub async fn set_planned_zone_data(self, version: &str) -> Result<()> {
        let text = "UPDATE setting SET value = ? WHERE name = ?";
        if self.execute(&self.write, text, values![version, PLANNED_WITH]).await? == 0 {
            let row = values![PLANNED_WITH, version];
            match self.insert_rows(&self.write, "setting", "name, value", vec![row]).await {
                // MariaDB does not count a row that has this value already, or another node was faster.
                Err(error) if error.is_unique_violation() => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// Looks at up to `limit` enabled jobs above `after` that have a time zone. Nothing is locked: what it finds is decided by
    /// [`CalendarStore::follow_zone_data`].
    pub async fn jobs_of_changed_zones(self, after: i64, limit: u32, now: Millis) -> Result<ZonePage> {
        let text = "SELECT id FROM job WHERE id > ? AND enabled = ? AND schedule_kind IN ('cron', 'unix_cron', 'daily') \
                    ORDER BY id LIMIT ?";
        let ids: Vec<i64> = self.tuples(&self.engine_reads, text, values![after, true, i64::from(limit)]).await?;
        let mut jobs = self.jobs().with_ids(&ids).await?;
        self.jobs().add_due_times(&mut jobs).await?;
        let is_changed =
            |job: &&Job| job.schedule().is_ok_and(|schedule| job.next_fire_at != schedule.first_after(now));
        Ok(ZonePage { last: ids.last().copied(), changed: jobs.iter().filter(is_changed).map(|job| job.id).collect() })
    }

    /// Plans a job again if its next fire is another one by the zone data of this process, by the transaction of an edit that
    /// changes nothing else: runs ahead are replaced, the revision grows.
    ///
    /// # Errors
    /// `Missing`.
    pub async fn follow_zone_data(self, job_id: i64, now: Millis, actor: &Actor) -> Result<ChangedJob> {
        self.jobs().change(job_id, &JobChange::ZoneData, now, actor).await
    }

    /// Whether the job's next fire is another one. The planner itself goes on by the new data where a fire is due already.
    pub(crate) async fn has_other_next_fire(self, tx: &Transaction, job: &Job, now: Millis) -> Result<bool> {
        let is_due = job.next_fire_at.is_some_and(|next| next <= now);
        if !job.draft.enabled || job.fires_left == Some(0) || is_due {
            return Ok(false);
        }
        let Ok(schedule) = job.schedule() else {
            return Ok(false);
        };
        let recorded = self.jobs().last_recorded(tx, job.id, now).await?.max(now);
        Ok(job.next_fire_at != schedule.first_after(recorded))
    }
}
