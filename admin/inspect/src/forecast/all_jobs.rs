//! What will fire: all enabled jobs together, through the schedules that the planner uses.
//!
//! The instants of all jobs are merged in the order of time, so that an answer which had to stop early is complete up to
//! a moment that it names. Memory is bounded by the jobs and by the instants looked at, whatever the span.

use crate::forecast::load;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use carillon_scheduler::{Clock, Millis};
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::forecast::busiest::Busiest;
use crate::forecast::fire_walk::{FireWalk, MOST_INSTANTS};
use carillon_store::{self as store, Store, VisibleApps};

use crate::forecast::load::LoadBySecond;
use crate::forecast::waiting::{ForecastKey, Waiting};

/// Jobs that are looked at; above it the answer says that there are more.
const MOST_JOBS: u32 = 200_000;
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

/// Counts the fires of all enabled jobs.
pub struct Forecaster {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    /// The last answer to [`Forecaster::recent_loads`], and when it was counted.
    recent: Mutex<Option<(Duration, LoadBySecond)>>,
    waiting: Waiting,
    /// One forecast at a time: each may walk over a million instants.
    turn: Arc<tokio::sync::Mutex<Answers>>,
    /// One count of loads at a time. Who saves a job does not wait for the forecasts of others.
    loads_turn: Arc<tokio::sync::Mutex<()>>,
    /// How many forecasts were begun.
    begun: AtomicU64,
}

/// The last answers to questions for which requests wait.
type Answers = Vec<Counted>;

type LoadsTurn = OwnedMutexGuard<()>;

/// An answer to [`Forecaster::forecast`], and what was asked.
struct Counted {
    number: u64,
    question: ForecastKey,
    forecast: Forecast,
}

impl Forecaster {
    pub fn new(store: Arc<Store>, clock: Arc<dyn Clock>) -> Self {
        let (recent, waiting, turn, loads_turn, begun) = Default::default();
        Self { store, clock, recent, waiting, turn, loads_turn, begun }
    }

    /// Counts what fires from `from` to before `to`, of the visible apps. Requests that come at once are counted one after the
    /// other; those that ask for the same take the answer of one that was begun after they came. None: too many different ones wait
    /// already.
    pub async fn forecast(&self, from: Millis, to: Millis, visible: &VisibleApps) -> store::Result<Option<Forecast>> {
        let Some(place) = self.waiting.enter(ForecastKey { span: to - from, visible: visible.clone() }) else {
            return Ok(None);
        };
        let came_at = self.begun.load(Ordering::Relaxed);
        let turn = self.turn.clone().lock_owned().await;
        let is_answer = |it: &&Counted| it.number > came_at && it.question == place.question;
        if let Some(answer) = turn.iter().find(is_answer) {
            return Ok(Some(answer.forecast.clone()));
        }
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let (walk, more_jobs) = fire_walk(&self.store, from, to, None, visible).await?;
        // The turn goes along: who hangs up leaves no count behind beside which the next one begins.
        let counted = tokio::task::spawn_blocking(move || (turn, Forecast { more_jobs, ..count(walk, from, to) }));
        let (mut turn, forecast) = counted.await.map_err(|error| store::Error::Corrupt(error.to_string()))?;
        turn.retain(|it| it.question != place.question && self.waiting.has(&it.question));
        turn.push(Counted { number, question: place.question.clone(), forecast: forecast.clone() });
        Ok(Some(forecast))
    }

    /// What fires in each second of the coming day, without one job.
    pub async fn loads(&self, without: Option<i64>) -> store::Result<LoadBySecond> {
        let turn = self.loads_turn.clone().lock_owned().await;
        Ok(self.count_loads(turn, without).await?.1)
    }

    async fn count_loads(&self, turn: LoadsTurn, without: Option<i64>) -> store::Result<(LoadsTurn, LoadBySecond)> {
        let from = self.clock.now();
        let (walk, _) = fire_walk(&self.store, from, from + load::SPAN, without, &VisibleApps::All).await?;
        let counted = tokio::task::spawn_blocking(move || (turn, LoadBySecond::count(walk, from)));
        counted.await.map_err(|error| store::Error::Corrupt(error.to_string()))
    }

    /// The same, up to ten seconds old: for the preview that a form asks for after each key.
    pub async fn recent_loads(&self) -> store::Result<LoadBySecond> {
        if let Some(loads) = self.kept_loads() {
            return Ok(loads);
        }
        let turn = self.loads_turn.clone().lock_owned().await;
        // Another preview may have counted while this one waited.
        if let Some(loads) = self.kept_loads() {
            return Ok(loads);
        }
        let now = self.clock.monotonic();
        let (_turn, loads) = self.count_loads(turn, None).await?;
        *self.recent.lock() = Some((now, loads.clone()));
        Ok(loads)
    }

    /// A job was saved on this node: the next preview shows what saving another one would choose now.
    pub fn forget_loads(&self) {
        *self.recent.lock() = None;
    }

    fn kept_loads(&self) -> Option<LoadBySecond> {
        let now = self.clock.monotonic();
        let recent = self.recent.lock().clone();
        recent.filter(|(at, _)| now.saturating_sub(*at) < RECENT).map(|(_, loads)| loads)
    }
}

/// The schedules that fire in a span, and whether there are more of them than are looked at.
async fn fire_walk(
    store: &Store,
    from: Millis,
    to: Millis,
    without: Option<i64>,
    visible: &VisibleApps,
) -> store::Result<(FireWalk, bool)> {
    let mut firing = store.jobs().firing_before(to, MOST_JOBS + 1, visible).await?;
    let more = firing.len() > MOST_JOBS as usize;
    firing.truncate(MOST_JOBS as usize);
    firing.retain(|(id, _)| Some(*id) != without);
    let mut walk = FireWalk::between(from, to);
    for chunk in firing.chunks(1000) {
        for job in store.jobs().in_force(chunk).await? {
            walk.add(&job);
        }
        tokio::task::yield_now().await;
    }
    Ok((walk, more))
}

fn count(mut walk: FireWalk, from: Millis, to: Millis) -> Forecast {
    let mut minutes: BTreeMap<Millis, BTreeMap<usize, u32>> = BTreeMap::new();
    let mut busiest = Busiest::of(TOP);
    let mut fires = 0;
    let jobs = walk.len();
    let complete_to = walk.walk(MOST_INSTANTS, |at, app| {
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
        apps: walk.apps(),
        minutes: minutes.into_iter().map(minute).collect(),
        busiest: busiest.into_seconds(),
    }
}

#[cfg(test)]
#[path = "all_jobs_tests.rs"]
mod tests;
