//! The line of runs that wait for slots. The runs themselves stay in the ring, for a moment at which they are looked at again in any case;
//! what waits is in its rows, so a holder that knows nothing of the line finds it there.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Millis, SlotKey};
use parking_lot::Mutex;

use crate::context::Context;
use crate::dispatch::limits::line::{Line, Needs, Turn};
use crate::dispatch::limits::rules::LimitRules;
use crate::dispatch::stages::{AdmittedRun, BATCH, place_of};
use crate::job_cache::{CachedJob, JobCache};
use crate::lease::held_shards::HeldShards;
use crate::plan::due_queue::DueQueue;
use crate::plan::wakes::ScanWakes;
use carillon_store as store;
use carillon_store::run::adopt::ClaimedRun;

/// How often slots are looked at, if nothing that ends here wakes it.
pub(crate) const POLL: Duration = Duration::from_millis(500);
/// The same beside other nodes: a run may end at one of them, and what it says of that may be lost.
const POLL_BESIDE_OTHERS: Duration = Duration::from_millis(100);
/// Where runs wait for more sets of slots, their look costs more than it brings.
const FEW: usize = 100;
/// When slots are looked at again of which another node was quicker to take one, in milliseconds. Two that met do not meet again.
const OUTRUN: std::ops::Range<u64> = 10..30;
/// How long others go first, in milliseconds: a hint takes 10 ms and a look.
const YIELD: std::ops::Range<u64> = 20..40;
/// The same where nodes can send each other no hints: longer than they rest.
const YIELD_UNHINTED: std::ops::Range<u64> = 110..150;
/// When a run that waits is looked at as if it had just become due: its job may have been edited, or its time be over. Those that have come
/// together do not come back together.
const RENEWED: std::ops::Range<Millis> = 8_000..10_000;
/// When a run is looked at again whose limits are not known.
const UNKNOWN: Millis = 1_000;
/// When a run is looked at again whose parameters are too many for one tick.
const LATER: Millis = 50;

/// How many slots, by what they are of.
type FreeSlots = std::collections::HashMap<SlotKey, u32>;

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
        let (order, run_id) = place_of(&run, job);
        // In this order: what stands in line and is not in the ring is taken for gone.
        self.queue.insert(run, self.cx.clock.now() + rand::random_range(RENEWED));
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

    /// Slots have become free at another node.
    pub fn follow_hint(&self) {
        self.line.lock().is_hinted = true;
        self.wake();
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
        let (now, is_alone) = (self.cx.clock.monotonic(), self.is_alone());
        let (slots, is_hinted): (Vec<SlotKey>, bool) = {
            let mut line = self.line.lock();
            if line.turns.is_empty() || line.look_at > now {
                return vec![];
            }
            let slots = line.turns.slots();
            let is_brief = !is_alone && slots.len() <= FEW;
            line.look_at = now + if is_brief { POLL_BESIDE_OTHERS } else { POLL };
            (slots.into_iter().collect(), std::mem::take(&mut line.is_hinted))
        };
        match self.free(&slots).await {
            Ok(free) if is_alone => self.choose(&mut self.line.lock(), free).0,
            Ok(free) => {
                let mut line = self.line.lock();
                let share = self.share(&mut line, &free, is_hinted);
                let (chosen, left) = self.choose(&mut line, share.clone());
                // Half of one is one: this was the last.
                for (slot, _) in share.iter().filter(|(slot, count)| **count == 1 && left.get(slot) == Some(&0)) {
                    line.yields.took_last(*slot);
                }
                chosen
            }
            Err(error) => {
                tracing::warn!(%error, "the slots of limits could not be read; runs that need them wait");
                vec![]
            }
        }
    }

    /// How many of the free slots this node may take now, beside other nodes: half of them, so that their runs come to their turns too. The
    /// next look follows at once. Of those of which it had the last one none for a moment.
    fn share(&self, line: &mut Line, free: &FreeSlots, is_hinted: bool) -> FreeSlots {
        let now = self.cx.clock.monotonic();
        let pause = if self.wakes.can_hint() { YIELD } else { YIELD_UNHINTED };
        line.yields.retain(|slot| free.contains_key(slot));
        let share = free.iter().map(|(slot, count)| {
            let pause = Duration::from_millis(rand::random_range(pause.clone()));
            (*slot, line.yields.allowed(*slot, *count, now, pause, is_hinted).div_ceil(2))
        });
        let share = share.collect();
        if let Some(end) = line.yields.next_end(now) {
            line.look_at = line.look_at.min(end);
        }
        share
    }

    /// The runs that go now, and the slots that are left then.
    fn choose(&self, line: &mut Line, mut free: FreeSlots) -> (Vec<i64>, FreeSlots) {
        let (set, now) = (self.limit_rules.current(), self.cx.clock.now());
        let chosen = line.turns.choose(&mut free, |app_id| set.weight(app_id), BATCH);
        if !chosen.is_empty() {
            line.look_at = Duration::ZERO;
        }
        for run_id in &chosen {
            let has_waited = line.noted.contains(run_id);
            let turn = line.had_turns.entry(*run_id).or_insert(Turn { at: now, has_waited });
            turn.has_waited |= has_waited;
            line.noted.remove(run_id);
        }
        (chosen, free)
    }

    /// Another node has taken slots that were thought to be free: these runs wait for them.
    pub fn was_outrun(&self, run_ids: &[i64]) {
        let mut line = self.line.lock();
        for run_id in run_ids {
            if let Some(turn) = line.had_turns.get_mut(run_id) {
                turn.has_waited = true;
            }
        }
        line.look_at = self.cx.clock.monotonic() + Duration::from_millis(rand::random_range(OUTRUN));
    }

    async fn free(&self, slots: &[SlotKey]) -> store::Result<FreeSlots> {
        let taken: FreeSlots = self.cx.store.limits().taken(slots).await?.into_iter().collect();
        let set = self.limit_rules.current();
        let free = |slot: &SlotKey| {
            // Of a limit that is gone the mark wants no slot.
            let most = set.get(slot.limit_id).map_or(u32::MAX, |rule| rule.max_runs.max(0).unsigned_abs());
            (*slot, most.saturating_sub(taken.get(slot).copied().unwrap_or(0)))
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
        let now = self.cx.clock.now();
        let mut known = Vec::with_capacity(runs.len());
        for (mut run, needs) in runs.into_iter().zip(needs) {
            match needs {
                Needs::Nothing => known.push(run),
                Needs::Slots(slots) => {
                    run.slots = Some(slots);
                    run.turn = self.line.lock().had_turns.get(&run.run.run_id).copied();
                    known.push(run);
                }
                Needs::Unknown => {
                    self.line.lock().unknown.insert(run.run.run_id);
                    self.queue.insert(run.run, now + UNKNOWN);
                }
                Needs::Later => self.queue.insert(run.run, now + LATER),
            }
        }
        known
    }
}
