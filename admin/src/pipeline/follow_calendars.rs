//! A calendar has changed: the jobs that use it are planned anew, one after the other, each by the transaction of an edit.
//!
//! Whoever changes a calendar does it at once; what a crash has left is found here.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::Pipeline;
use crate::runtime::Service;
use crate::store::{self, Actor};

/// Jobs that are looked for at a time.
const PAGE: u32 = 200;

impl Pipeline {
    /// Plans every job anew that is planned with an old version of a calendar; answers how many. A job that cannot be
    /// written now is left to a later round.
    ///
    /// # Errors
    /// The database could not be asked for them.
    pub async fn follow_calendars(&self, actor: &Actor) -> store::Result<usize> {
        let (mut after, mut done) = (0, 0);
        loop {
            let behind = self.store.jobs_behind_calendars(after, PAGE).await?;
            let Some(last) = behind.last() else {
                return Ok(done);
            };
            after = *last;
            for job_id in behind {
                let now = self.clock.now();
                match self.store.follow_calendars(job_id, now, actor).await {
                    Ok(job) => {
                        done += 1;
                        self.job_changed(job.shard);
                    }
                    Err(store::Error::Missing(_)) => {}
                    Err(error) => tracing::warn!(
                        job.id = job_id,
                        %error,
                        "a job could not be planned by its changed calendar; it is tried again"
                    ),
                }
            }
        }
    }
}

pub struct FollowCalendars(pub Arc<Pipeline>);

#[async_trait]
impl Service for FollowCalendars {
    fn name(&self) -> &'static str {
        "calendars"
    }

    async fn step(&self) -> Duration {
        match self.0.follow_calendars(&Actor::engine()).await {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(jobs, "jobs follow a calendar that was changed before"),
            Err(error) => {
                tracing::debug!(%error, "jobs of changed calendars could not be looked for")
            }
        }
        Duration::from_secs(30)
    }
}
