//! How many jobs an app may have.

use std::collections::BTreeMap;

use carillon_scheduler::FieldError;
use sea_orm::ConnectionTrait;

use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::job::stored_job::Job;
use crate::views::AppStore;

/// JobQuota for more jobs than all requests of one moment write: where an app has it, they need not wait for each other.
const FAR: u64 = 50_000;

/// Jobs that an app is about to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewInApp<'a> {
    pub app_id: i64,
    pub app: &'a str,
    pub new: u64,
}

/// Where the jobs of a request go. Some: the app is near this limit.
pub(crate) struct JobQuota<'a>(Vec<(NewInApp<'a>, Option<u64>)>);

impl AppStore<'_> {
    /// How many jobs an app has.
    pub async fn count_jobs_of(self, app_id: i64) -> Result<u64> {
        self.count_jobs_in(&self.engine_reads, app_id).await
    }

    /// # Errors
    /// `Refused`: the app would have more than `most` jobs.
    pub async fn check_job_quota(self, new: &NewInApp<'_>, most: u64) -> Result<()> {
        check(new, self.count_jobs_of(new.app_id).await?, most)
    }

    /// # Errors
    /// `Refused`, before the transaction: an app would have more than `most` jobs.
    pub(crate) async fn quota_for<'a>(self, jobs: &'a [Job], most: Option<u64>) -> Result<JobQuota<'a>> {
        let mut apps: BTreeMap<i64, NewInApp<'a>> = BTreeMap::new();
        for job in jobs {
            let first = NewInApp { app_id: job.app_id, app: &job.draft.app, new: 0 };
            apps.entry(job.app_id).or_insert(first).new += 1;
        }
        let mut quota = Vec::with_capacity(apps.len());
        for new in apps.into_values() {
            let Some(most) = most else {
                quota.push((new, None));
                continue;
            };
            let there = self.count_jobs_of(new.app_id).await?;
            check(&new, there, most)?;
            quota.push((new, Some(most).filter(|most| there + new.new + FAR > *most)));
        }
        Ok(JobQuota(quota))
    }

    /// Keeps the apps from being deleted until the transaction ends, and from getting other jobs where they are near the limit.
    ///
    /// # Errors
    /// `Missing`: an app has been deleted since the caller looked. `Refused`: it would have too many jobs.
    pub(crate) async fn hold_quota(self, tx: &Transaction, quota: &JobQuota<'_>) -> Result<()> {
        for (new, near) in &quota.0 {
            let Some(most) = near else {
                self.hold_app(tx, new.app_id).await?;
                continue;
            };
            let text = "SELECT id FROM app WHERE id = ?{for_update}";
            let found: Option<i64> = self.tuple(tx, text, values![new.app_id]).await?;
            found.ok_or_else(|| Error::Missing(format!("app {}", new.app_id)))?;
            check(new, self.count_jobs_in(tx, new.app_id).await?, *most)?;
        }
        Ok(())
    }

    async fn count_jobs_in(self, db: &impl ConnectionTrait, app_id: i64) -> Result<u64> {
        let text = "SELECT COUNT(*) FROM job WHERE app_id = ?";
        let count: Option<i64> = self.tuple(db, text, values![app_id]).await?;
        Ok(count.map_or(0, i64::unsigned_abs))
    }
}

fn check(new: &NewInApp<'_>, there: u64, most: u64) -> Result<()> {
    let app = new.app;
    if there + new.new > most {
        let text = format!("app {app} has {there} jobs; an app may have {most} (--app-jobs)");
        return Err(Error::Refused(FieldError::new("app", text)));
    }
    Ok(())
}
