//! A calendar has changed: the jobs that use it are planned anew, one after the other, each by the transaction of an edit.
//!
//! Whoever changes a calendar does it at once; what a crash has left is found here.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;

use crate::Pipeline;
use crate::maintain::periodic::Periodic;
use crate::runtime::Service;
use crate::store;
use crate::store::{Actor, VersionKey};

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

/// A job that was saved with the version before a change, in the moment of the change, is found at the latest so much later.
const EVERYTHING: Duration = Duration::from_secs(3600);

/// The holder of the first shard does it for all. As long as no calendar has another version than when all jobs followed,
/// the table of the jobs that use one is not read: it may be large.
pub struct FollowCalendars {
    pipeline: Arc<Pipeline>,
    followed: Mutex<Option<Vec<VersionKey>>>,
    everything: Periodic,
}

impl FollowCalendars {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self { pipeline, followed: Mutex::default(), everything: Periodic::at_once() }
    }

    async fn round(&self) -> store::Result<usize> {
        let pipeline = &self.pipeline;
        let mut followed = self.followed.lock().await;
        let now = pipeline.clock.monotonic();
        if pipeline.holdings.epoch(0, now).is_none() {
            *followed = None;
            return Ok(0);
        }
        let versions = pipeline.store.calendar_versions_now().await?;
        if self.everything.is_due(now, EVERYTHING) {
            *followed = None;
        }
        if followed.as_ref() == Some(&versions) {
            return Ok(0);
        }
        let done = pipeline.follow_calendars(&Actor::engine()).await?;
        // Some may have been left to a later round: what is remembered is that none was behind.
        *followed = (done == 0 && pipeline.store.jobs_behind_calendars(0, 1).await?.is_empty()).then_some(versions);
        Ok(done)
    }
}

#[async_trait]
impl Service for FollowCalendars {
    fn name(&self) -> &'static str {
        "calendars"
    }

    async fn step(&self) -> Duration {
        match self.round().await {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(job.count = jobs, "jobs follow a calendar that was changed before"),
            Err(error) => {
                tracing::debug!(%error, "jobs of changed calendars could not be looked for")
            }
        }
        Duration::from_secs(30)
    }
}
