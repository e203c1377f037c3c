//! What routes remember of each job on this node: turns, uses, and where the runs of a sticky job go.
//!
//! All of it may be lost. A node that takes a shard over begins new turns; where sticky jobs go is in the database, and
//! what is here is a copy that counts only for the epoch under which it was read.

use std::time::Duration;

use carillon_scheduler::RouteStrategy;
use carillon_scheduler::route::{Candidate, Frequency, HashRing, Recency, RouteInput, order};
use foldhash::HashMap;
use parking_lot::Mutex;

use crate::clock_cache::ClockCache;
use crate::job_cache::JobsById;
use carillon_store::Store;
use carillon_store::run::adopt::ClaimedRun;

/// States of this size in all are kept.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Of one state and its place, about; what a route remembers of executors comes on top and is small beside it.
const BYTES: usize = size_of::<JobRouteState>() + 160;
const HOUR: Duration = Duration::from_secs(3600);
/// A job without a run for this time is forgotten: it was deleted, or another node has it.
const FORGET_AFTER: Duration = Duration::from_secs(24 * 3600);

struct JobRouteState {
    used_at: Duration,
    turn: u64,
    // Boxed: most jobs have neither.
    frequency: Option<Box<Frequency>>,
    recency: Option<Box<Recency>>,
    sticky: Option<Box<Sticky>>,
}

/// As read or written under this epoch.
struct Sticky {
    epoch: i64,
    address: Option<String>,
}

impl JobRouteState {
    fn new() -> Self {
        Self {
            used_at: Duration::ZERO,
            // Any place: or all jobs of a node would begin with the same executor.
            turn: u64::from(rand::random::<u16>()),
            frequency: None,
            recency: None,
            sticky: None,
        }
    }

    fn observe(&mut self, strategy: RouteStrategy, candidates: &[Candidate<'_>]) {
        match strategy {
            RouteStrategy::LeastFrequentlyUsed => {
                self.frequency.get_or_insert_default().observe(candidates, rand::random())
            }
            RouteStrategy::LeastRecentlyUsed => {
                self.recency.get_or_insert_default().observe(candidates);
            }
            _ => {}
        }
    }
}

pub struct RouteMemory {
    by_job: Mutex<ClockCache<JobRouteState>>,
    swept_at: Mutex<Duration>,
}

impl Default for RouteMemory {
    fn default() -> Self {
        Self { by_job: Mutex::new(ClockCache::new(MOST_BYTES)), swept_at: Mutex::default() }
    }
}

/// The job's state, or a new one.
fn of_job(map: &mut ClockCache<JobRouteState>, job_id: i64) -> Option<&mut JobRouteState> {
    if map.get(job_id).is_none() {
        map.insert(job_id, JobRouteState::new(), BYTES);
    }
    map.get(job_id)
}

impl RouteMemory {
    /// The order in which the candidates of a job's next run are to be tried.
    pub fn order(
        &self,
        strategy: RouteStrategy,
        job_id: i64,
        candidates: &[Candidate<'_>],
        ring: Option<&HashRing>,
        now: Duration,
    ) -> Vec<usize> {
        let mut map = self.by_job.lock();
        let Some(state) = of_job(&mut map, job_id) else {
            return (0..candidates.len()).collect();
        };
        state.used_at = now;
        state.turn = state.turn.wrapping_add(1);
        state.observe(strategy, candidates);
        let facts = RouteInput {
            job_id,
            ticket: state.turn,
            random: rand::random(),
            ring,
            frequency: state.frequency.as_deref(),
            recency: state.recency.as_deref(),
            last: state.sticky.as_ref().and_then(|sticky| sticky.address.as_deref()),
        };
        order(strategy, candidates, &facts)
    }

    /// The run goes there. True: it is a sticky job, and its last run went elsewhere.
    pub fn record_use(&self, strategy: RouteStrategy, run: &ClaimedRun, address: &str) -> bool {
        let mut map = self.by_job.lock();
        let Some(state) = map.get(run.job_id) else {
            return false;
        };
        match strategy {
            RouteStrategy::LeastFrequentlyUsed => {
                if let Some(known) = &mut state.frequency {
                    known.record_use(address);
                }
            }
            RouteStrategy::LeastRecentlyUsed => {
                if let Some(known) = &mut state.recency {
                    known.record_use(address);
                }
            }
            RouteStrategy::Sticky => {
                let known = state.sticky.as_ref().and_then(|sticky| sticky.address.as_deref());
                if known != Some(address) {
                    state.sticky = Some(Box::new(Sticky { epoch: run.epoch, address: Some(address.to_owned()) }));
                    return true;
                }
            }
            _ => {}
        }
        false
    }

    /// The job is gone.
    pub fn forget(&self, job_id: i64) {
        self.by_job.lock().remove(job_id);
    }

    /// Now and then: states that were not used for a day.
    pub fn sweep(&self, now: Duration) {
        let mut swept_at = self.swept_at.lock();
        if now.saturating_sub(*swept_at) >= HOUR {
            *swept_at = now;
            self.by_job.lock().retain(|state| state.used_at + FORGET_AFTER > now);
        }
    }

    fn knows_sticky(&self, run: &ClaimedRun) -> bool {
        let mut map = self.by_job.lock();
        let known = map.get(run.job_id).and_then(|state| state.sticky.as_ref());
        known.is_some_and(|sticky| sticky.epoch == run.epoch)
    }

    fn learn_sticky(&self, run: &ClaimedRun, address: Option<String>) {
        let sticky = Sticky { epoch: run.epoch, address };
        if let Some(state) = of_job(&mut self.by_job.lock(), run.job_id) {
            state.sticky = Some(Box::new(sticky));
        }
    }

    /// Before sticky jobs are routed: where their last runs went, if that is not known under this epoch.
    pub async fn load_sticky(&self, store: &Store, jobs: &JobsById, due: &[ClaimedRun]) -> carillon_store::Result<()> {
        let is_sticky = |run: &&ClaimedRun| {
            let rules = jobs.get(&run.job_id).map(|job| &job.rules);
            rules.is_some_and(|rules| matches!(rules, Ok(rules) if rules.route == RouteStrategy::Sticky))
                && run.bound_to.is_none()
                && !self.knows_sticky(run)
        };
        let unknown: Vec<&ClaimedRun> = due.iter().filter(is_sticky).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let mut ids: Vec<i64> = unknown.iter().map(|run| run.job_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut found: HashMap<i64, String> = store.runs().sticky(&ids).await?.into_iter().collect();
        for run in unknown {
            if !self.knows_sticky(run) {
                self.learn_sticky(run, found.remove(&run.job_id));
            }
        }
        Ok(())
    }
}
