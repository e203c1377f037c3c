//! Open runs of each executor, for the route `least_active`: as the database had them a moment ago (runs of all nodes and
//! all jobs), and those that this node has routed since.

use std::time::Duration;

use carillon_scheduler::RouteStrategy;
use foldhash::HashMap;
use parking_lot::Mutex;

use crate::job_cache::{CachedJob, JobsById};
use carillon_store as store;
use carillon_store::Store;

/// The runs are counted only while a job asks for the numbers.
const WANTED_FOR: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Counts {
    by_address: HashMap<String, u32>,
    wanted_until: Option<Duration>,
}

#[derive(Default)]
pub struct OpenRunCounts(Mutex<Counts>);

impl OpenRunCounts {
    /// True: they were not counted lately.
    fn request_refresh(&self, now: Duration) -> bool {
        let until = self.0.lock().wanted_until.replace(now + WANTED_FOR);
        until.is_none_or(|until| until < now)
    }

    pub fn of(&self, address: &str) -> u32 {
        self.0.lock().by_address.get(address).copied().unwrap_or(0)
    }

    /// A run was routed there.
    pub fn add_routed(&self, address: &str) {
        let mut counts = self.0.lock();
        match counts.by_address.get_mut(address) {
            Some(count) => *count += 1,
            None => drop(counts.by_address.insert(address.to_owned(), 1)),
        }
    }

    pub async fn refresh(&self, store: &Store, shards: i32, now: Duration) -> store::Result<()> {
        let wanted = self.0.lock().wanted_until;
        if wanted.is_none_or(|until| until < now) {
            return Ok(());
        }
        let counted = store.runs().active_runs_by_address(shards).await?;
        self.0.lock().by_address =
            counted.into_iter().map(|(address, count)| (address, u32::try_from(count).unwrap_or(u32::MAX))).collect();
        Ok(())
    }

    /// Before runs of these jobs are routed: if one of them wants the numbers and they were not counted lately. From then on
    /// they are refreshed with the registrations.
    pub async fn load(&self, store: &Store, jobs: &JobsById, shards: i32, now: Duration) -> store::Result<()> {
        let wants = |job: &CachedJob| matches!(&job.rules, Ok(rules) if rules.route == RouteStrategy::LeastActive);
        if jobs.values().any(|job| wants(job)) && self.request_refresh(now) {
            self.refresh(store, shards, now).await?;
        }
        Ok(())
    }
}
