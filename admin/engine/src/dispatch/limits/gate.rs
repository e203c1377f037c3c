//! The line of runs that wait for slots. The runs themselves stay in the ring, for a moment at which they are looked at again in any case;
//! what waits is in its rows, so a holder that knows nothing of the line finds it there.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::run::limit::Turns;
use carillon_scheduler::{Millis, SlotKey};
use foldhash::HashSet;
use parking_lot::Mutex;

use crate::context::Context;
use crate::dispatch::deferral::order_of;
use crate::dispatch::limits::rules::LimitRules;
use crate::dispatch::limits::slots_of_runs::Needs;
use crate::dispatch::stages::AdmittedRun;
use crate::job_cache::{CachedJob, JobCache};
use crate::lease::held_shards::HeldShards;
use crate::plan::due_queue::DueQueue;
use crate::plan::wakes::ScanWakes;
use carillon_store as store;
use carillon_store::run::adopt::ClaimedRun;

/// How often slots are looked at, if nothing that ends here wakes it: the end may come to another node.
pub(crate) const POLL: Duration = Duration::from_millis(500);
/// When slots are looked at again of which another node was quicker to take one.
const OUTRUN: Duration = Duration::from_millis(20);
/// When a run that waits is looked at as if it had just become due: its job may have been edited, or its time be over.
const RENEWED: Millis = 10_000;
/// When a run is looked at again whose limits are not known.
const UNKNOWN: Millis = 1_000;
/// Runs that get their turn in one tick.
const BATCH: usize = 500;

#[derive(Default)]
pub(crate) struct Line {
    turns: Turns,
    /// When slots are looked at next, on the monotonic clock.
    look_at: Duration,
    /// Runs whose rows say that they wait.
    noted: HashSet<i64>,
}

pub struct LimitGate {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) queue: Arc<DueQueue>,
    pub(crate) wakes: Arc<ScanWakes>,
    pub(crate) jobs: Arc<JobCache>,
    pub(crate) limit_rules: Arc<LimitRules>,
    pub(crate) line: Mutex<Line>,
}

impl LimitGate {
    /// Its runs need slots. A workflow takes none, its nodes do.
    pub fn concerns(&self, job: &CachedJob) -> bool {
        !job.is_workflow() && self.limit_rules.current().concerns(job)
    }

    /// The run waits for its turn, which may be the next tick.
    pub fn park(&self, run: ClaimedRun, job: &CachedJob, slots: Arc<[SlotKey]>) {
        let (run_id, order) = (run.run_id, order_of(&run, job));
        // In this order: what stands in line and is not in the ring is taken for gone.
        self.queue.insert(run, self.cx.clock.now() + RENEWED);
        self.line.lock().turns.insert(run_id, job.stored.app_id, order, slots);
    }

    /// Slots have become free, or runs have come.
    pub fn wake(&self) {
        let mut line = self.line.lock();
        if !line.turns.is_empty() {
            line.look_at = Duration::ZERO;
            self.queue.wake.notify_one();
        }
    }

    /// Runs with slots have ended at this node: it may have runs that wait, and others may too.
    pub fn freed(&self) {
        self.wake();
        if !self.is_alone() {
            self.wakes.hint_slots();
        }
    }

    /// The runs whose turn it is. They are out of the line; those that are not in the ring any more are left out when they are taken.
    pub async fn take_turns(&self) -> Vec<i64> {
        let now = self.cx.clock.monotonic();
        let slots: Vec<SlotKey> = {
            let mut line = self.line.lock();
            if line.turns.is_empty() || line.look_at > now {
                return vec![];
            }
            line.look_at = now + POLL;
            line.turns.slots().into_iter().collect()
        };
        match self.free(&slots).await {
            Ok(free) => {
                let set = self.limit_rules.current();
                let mut line = self.line.lock();
                let chosen = line.turns.choose(&free, |app_id| set.weight(app_id), BATCH);
                if !chosen.is_empty() {
                    line.look_at = Duration::ZERO;
                }
                for run_id in &chosen {
                    line.noted.remove(run_id);
                }
                chosen
            }
            Err(error) => {
                tracing::warn!(%error, "the slots of limits could not be read; runs that need them wait");
                vec![]
            }
        }
    }

    /// Another node has taken slots that were thought to be free.
    pub fn was_outrun(&self) {
        self.line.lock().look_at = self.cx.clock.monotonic() + OUTRUN;
    }

    /// How many slots this node may take now: beside other nodes half of those that are free, so that their runs come to their turns too. The
    /// next look follows at once.
    async fn free(&self, slots: &[SlotKey]) -> store::Result<std::collections::HashMap<SlotKey, u32>> {
        let taken: std::collections::HashMap<SlotKey, u32> =
            self.cx.store.limits().taken(slots).await?.into_iter().collect();
        let (set, is_alone) = (self.limit_rules.current(), self.is_alone());
        let free = |slot: &SlotKey| {
            // Of a limit that is gone the mark wants no slot.
            let most = set.get(slot.limit_id).map_or(u32::MAX, |rule| rule.max_runs.max(0).unsigned_abs());
            let free = most.saturating_sub(taken.get(slot).copied().unwrap_or(0));
            (*slot, if is_alone { free } else { free.div_ceil(2) })
        };
        Ok(slots.iter().map(free).collect())
    }

    fn is_alone(&self) -> bool {
        self.held.shards().len() >= usize::try_from(self.held.total()).unwrap_or(0)
    }

    /// How long the dispatcher may rest; None: nothing waits here.
    pub fn pause(&self) -> Option<Duration> {
        let line = self.line.lock();
        (!line.turns.is_empty()).then(|| line.look_at.saturating_sub(self.cx.clock.monotonic()))
    }

    /// How many runs wait.
    pub fn waiting(&self) -> usize {
        self.line.lock().turns.len()
    }

    /// Says in the rows of runs that they wait, once for each. Answers of how many.
    pub async fn note_waiting(&self) -> store::Result<usize> {
        let new: Vec<i64> = {
            let mut line = self.line.lock();
            let gone = self.queue.not_there(line.turns.run_ids());
            for run_id in gone {
                line.turns.remove(run_id);
            }
            let Line { turns, noted, .. } = &mut *line;
            noted.retain(|run_id| turns.contains(*run_id));
            turns.run_ids().filter(|run_id| !noted.contains(run_id)).take(BATCH).collect()
        };
        if new.is_empty() {
            return Ok(0);
        }
        self.cx.store.limits().note_waiting(&new).await?;
        self.line.lock().noted.extend(new.iter().copied());
        Ok(new.len())
    }

    /// Each of these runs with its slots, or none if its limits are gone; those whose slots are not known yet go back into the ring.
    pub async fn with_slots(&self, runs: Vec<AdmittedRun>) -> Vec<AdmittedRun> {
        if runs.is_empty() {
            return runs;
        }
        let needs = match self.needs_of(&runs).await {
            Ok(needs) => needs,
            Err(error) => {
                tracing::warn!(%error, run.count = runs.len(), "the slots that runs need could not be found out; they wait");
                runs.iter().map(|_| Needs::Unknown).collect()
            }
        };
        let again_at = self.cx.clock.now() + UNKNOWN;
        let mut known = Vec::with_capacity(runs.len());
        for (mut run, needs) in runs.into_iter().zip(needs) {
            match needs {
                Needs::Nothing => known.push(run),
                Needs::Slots(slots) => {
                    run.slots = Some(slots);
                    known.push(run);
                }
                Needs::Unknown => self.queue.insert(run.run, again_at),
            }
        }
        known
    }
}
