//! After a change of the time zone data, jobs whose next fire is different by the new data are planned again.
//!
//! The data of a process does not change, so this is work for the first minute after a start, and after another node has ended
//! that plans with other data.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::zone_data;
use carillon_store as store;
use carillon_store::Actor;
use carillon_store::lease::nodes::version;
use tokio::sync::Mutex;

use crate::context::Context;
use crate::lease::held_shards::HeldShards;
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Service, Step};
use crate::settings::ms;

/// Jobs that are looked at together.
const PAGE: u32 = 1_000;

/// The holder of the first shard does it for all.
pub struct ZoneFollower {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) wakes: Arc<ScanWakes>,
    /// The other versions of nodes that lived when all jobs were looked at; None: they have not been.
    pub(crate) done: Mutex<Option<Vec<String>>>,
}

impl ZoneFollower {
    /// Plans the jobs again whose next fire is different by the data of this process; returns their number. A job that cannot be
    /// written now is left to a later round, which the second value says.
    async fn follow(&self) -> store::Result<(usize, bool)> {
        let (mut after, mut did, mut all) = (0, 0, true);
        loop {
            let now = self.cx.clock.now();
            let page = self.cx.store.calendars().jobs_of_changed_zones(after, PAGE, now).await?;
            let Some(last) = page.last else {
                return Ok((did, all));
            };
            after = last;
            for job_id in page.changed {
                match self.cx.store.calendars().follow_zone_data(job_id, now, &Actor::engine()).await {
                    Ok(changed) if changed.is_changed => {
                        did += 1;
                        self.wakes.wake(changed.job.shard);
                    }
                    Ok(_) | Err(store::Error::Missing(_)) => {}
                    Err(error) => {
                        all = false;
                        tracing::warn!(
                            job.id = job_id,
                            %error,
                            "a job could not be planned by the new time zone data; it is tried again"
                        );
                    }
                }
            }
        }
    }

    async fn round(&self) -> store::Result<usize> {
        let mut done = self.done.lock().await;
        if !self.held.has_first() {
            *done = None;
            return Ok(0);
        }
        let ours = version();
        let live = self.cx.store.leases().live_nodes(self.cx.clock.now() - ms(self.cx.settings.lease_ttl)).await?;
        let mut others: Vec<String> = live.into_iter().map(|node| node.version).filter(|it| *it != ours).collect();
        others.sort_unstable();
        others.dedup();
        if done.as_ref() == Some(&others) {
            return Ok(0);
        }
        let data = zone_data().edition();
        if others.is_empty() && self.cx.store.calendars().planned_zone_data().await?.as_deref() == Some(data) {
            *done = Some(others);
            return Ok(0);
        }
        let (did, all) = self.follow().await?;
        if all {
            // Until the others have ended, they plan their jobs with their data.
            if others.is_empty() {
                self.cx.store.calendars().set_planned_zone_data(data).await?;
            }
            *done = Some(others);
        }
        Ok(did)
    }
}

impl Service for ZoneFollower {
    const NAME: &'static str = "zones";
    /// Number of jobs that were planned again.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let did = self.round().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "jobs of changed time zones could not be looked for");
            0
        });
        if did > 0 {
            tracing::info!(
                job.count = did,
                zones.version = zone_data().version(),
                "jobs are planned anew: the time zone data has changed"
            );
        }
        Step { did, next: Duration::from_secs(30) }
    }
}
