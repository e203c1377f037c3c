//! A calendar has changed: the jobs that use it are planned again, one after the other, each by the transaction of an edit.
//!
//! A change of a calendar does it at once; what a crash has left is found here.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::context::Context;
use crate::lease::held_shards::HeldShards;
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Periodic, Service, Step};
use carillon_store as store;
use carillon_store::{Actor, VersionKey};

/// Jobs that are looked for at a time.
const PAGE: u32 = 200;

/// Period of the search for a job that was saved with the version before a change, in the moment of the change.
const EVERYTHING: Duration = Duration::from_secs(3600);

/// The holder of the first shard does it for all. As long as no calendar has another version than when all jobs followed,
/// the table of the jobs that use one is not read: it may be large.
pub struct CalendarFollower {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) wakes: Arc<ScanWakes>,
    pub(crate) followed: Mutex<Option<Vec<VersionKey>>>,
    pub(crate) everything: Periodic,
}

impl CalendarFollower {
    /// Plans every job again that is planned with an old version of a calendar; answers how many. A job that cannot be
    /// written now is left to a later round.
    ///
    /// # Errors
    /// The database could not be asked for them.
    pub async fn follow(&self, actor: &Actor) -> store::Result<usize> {
        let (mut after, mut done) = (0, 0);
        loop {
            let behind = self.cx.store.calendars().jobs_behind_calendars(after, PAGE).await?;
            let Some(last) = behind.last() else {
                return Ok(done);
            };
            after = *last;
            for job_id in behind {
                let now = self.cx.clock.now();
                match self.cx.store.calendars().follow_calendars(job_id, now, actor).await {
                    Ok(job) => {
                        done += 1;
                        self.wakes.wake(job.shard);
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

    async fn round(&self) -> store::Result<usize> {
        let mut followed = self.followed.lock().await;
        let now = self.cx.clock.monotonic();
        if !self.held.has_first() {
            *followed = None;
            return Ok(0);
        }
        let versions = self.cx.store.calendars().calendar_versions_now().await?;
        if self.everything.start_if_due(now, EVERYTHING) {
            *followed = None;
        }
        if followed.as_ref() == Some(&versions) {
            return Ok(0);
        }
        let done = self.follow(&Actor::engine()).await?;
        // Some may have been left to a later round: what is remembered is that none was behind.
        *followed =
            (done == 0 && self.cx.store.calendars().jobs_behind_calendars(0, 1).await?.is_empty()).then_some(versions);
        Ok(done)
    }
}

impl Service for CalendarFollower {
    const NAME: &'static str = "calendars";
    /// Number of jobs that were planned again.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let did = self.round().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "jobs of changed calendars could not be looked for");
            0
        });
        if did > 0 {
            tracing::info!(job.count = did, "jobs follow a calendar that was changed before");
        }
        Step { did, next: Duration::from_secs(30) }
    }
}
