//! What will fire: all enabled jobs together, through the schedules that the planner uses.
//!
//! The instants of all jobs are merged in the order of time, so that an answer which had to stop early is complete up to
//! a moment that it names. Memory is bounded by the jobs and by the instants looked at, whatever the span.

use crate::inspect::forecast::load;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use carillon_scheduler::Millis;

use crate::Pipeline;
use crate::inspect::forecast::busiest::Busiest;
use crate::inspect::forecast::fire_walk::Flows;
use crate::store;
use crate::store::Store;

use crate::inspect::forecast::load::Loads;

/// Jobs that are looked at; above it the answer says that there are more.
const MOST_JOBS: u32 = 200_000;
/// Instants that are looked at for one answer: under a second of one core.
pub(crate) const MOST_INSTANTS: usize = 1_000_000;
/// Busiest seconds that are named.
const TOP: usize = 20;

const MINUTE: Millis = 60_000;
const RECENT: Duration = Duration::from_secs(10);

/// The fires of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Nothing before it is counted.
    pub from: Millis,
    /// What was asked for.
    pub to: Millis,
    /// Everything before it is counted; `to`, unless there are too many fires.
    pub complete_to: Millis,
    /// Enabled jobs that fire in the span.
    pub jobs: usize,
    /// Not all jobs could be looked at.
    pub more_jobs: bool,
    pub fires: u64,
    /// The apps, by name; `minutes` counts by their place here.
    pub apps: Vec<String>,
    /// The minutes that have fires, each with those of each app.
    pub minutes: Vec<Minute>,
    /// The busiest seconds first, among equals the earliest.
    pub busiest: Vec<(Millis, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minute {
    pub at: Millis,
    pub fires: u32,
    /// Place of the app, and its fires.
    pub apps: Vec<(usize, u32)>,
}

impl Pipeline {
    /// Counts what fires from `from` to before `to`.
    ///
    /// # Errors
    /// The database could not be asked.
    pub async fn forecast(&self, from: Millis, to: Millis) -> store::Result<Forecast> {
        let (flows, more_jobs) = flows(&self.store, from, to, None).await?;
        let counted = tokio::task::spawn_blocking(move || count(flows, from, to)).await;
        let mut forecast = counted.map_err(|error| store::Error::Corrupt(error.to_string()))?;
        forecast.more_jobs = more_jobs;
        Ok(forecast)
    }

    /// What fires in each second of the coming day, without one job.
    ///
    /// # Errors
    /// The database could not be asked.
    pub async fn loads(&self, without: Option<i64>) -> store::Result<Loads> {
        let from = self.clock.now();
        let to = from + load::SPAN;
        let (flows, _) = flows(&self.store, from, to, without).await?;
        let counted = tokio::task::spawn_blocking(move || Loads::of(flows, from)).await;
        counted.map_err(|error| store::Error::Corrupt(error.to_string()))
    }

    /// The same, up to ten seconds old: for a preview, which is asked for while somebody types.
    ///
    /// # Errors
    /// The database could not be asked.
    pub async fn recent_loads(&self) -> store::Result<Loads> {
        let now = self.clock.monotonic();
        if let Some(loads) = self.kept_loads(now) {
            return Ok(loads);
        }
        let loads = self.loads(None).await?;
        *self.kept() = Some((now, loads.clone()));
        Ok(loads)
    }

    fn kept_loads(&self, now: Duration) -> Option<Loads> {
        let kept = self.kept();
        let (at, loads) = kept.as_ref()?;
        (now.saturating_sub(*at) < RECENT).then(|| loads.clone())
    }

    fn kept(&self) -> MutexGuard<'_, Option<(Duration, Loads)>> {
        let kept = self.recent_loads.lock();
        kept.unwrap_or_else(PoisonError::into_inner)
    }
}

/// What [`Pipeline::recent_loads`] keeps, and since when.
pub type Recent = Mutex<Option<(Duration, Loads)>>;

/// The schedules that fire in a span, and whether there are more of them than are looked at.
async fn flows(store: &Store, from: Millis, to: Millis, without: Option<i64>) -> store::Result<(Flows, bool)> {
    let mut firing = store.firing_before(to, MOST_JOBS + 1).await?;
    let more = firing.len() > MOST_JOBS as usize;
    firing.truncate(MOST_JOBS as usize);
    firing.retain(|(id, _)| Some(*id) != without);
    let mut flows = Flows::between(from, to);
    for chunk in firing.chunks(1000) {
        for job in store.in_force(chunk).await? {
            flows.add(&job);
        }
        tokio::task::yield_now().await;
    }
    Ok((flows, more))
}

fn count(mut flows: Flows, from: Millis, to: Millis) -> Forecast {
    let mut minutes: BTreeMap<Millis, BTreeMap<usize, u32>> = BTreeMap::new();
    let mut busiest = Busiest::of(TOP);
    let mut fires = 0;
    let jobs = flows.len();
    let complete_to = flows.walk(MOST_INSTANTS, |at, app| {
        fires += 1;
        busiest.add(at.div_euclid(1000));
        let minute = minutes.entry(at - at.rem_euclid(MINUTE)).or_default();
        *minute.entry(app).or_default() += 1;
    });
    let minute = |(at, apps): (Millis, BTreeMap<usize, u32>)| Minute {
        at,
        fires: apps.values().sum(),
        apps: apps.into_iter().collect(),
    };
    Forecast {
        from,
        to,
        complete_to: complete_to.min(to),
        jobs,
        more_jobs: false,
        fires,
        apps: flows.apps(),
        minutes: minutes.into_iter().map(minute).collect(),
        busiest: busiest.into_seconds(),
    }
}

#[cfg(test)]
#[path = "all_jobs_tests.rs"]
mod tests;
