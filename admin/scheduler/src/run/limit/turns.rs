use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use super::key::SlotKey;
use crate::time::Millis;

/// The greatest weight of an app.
pub const MAX_WEIGHT: u32 = 100;

/// What a run of an app with the weight 1 costs.
const STRIDE: u64 = 1_000_000;

/// Where a run stands in a line: its due time less its priority, and the run.
pub type Place = (Millis, i64);

/// Runs of one app that need the same slots, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Lane {
    app_id: i64,
    slots: Arc<[SlotKey]>,
}

/// How far the apps have come at one set of slots: start-time fair queueing, so that an app which comes later has neither saved up nor lost
/// anything.
#[derive(Debug, Default)]
struct Progress {
    /// Where the last run has started.
    now: u64,
    next: HashMap<i64, u64>,
}

impl Progress {
    fn start_of(&self, app_id: i64) -> u64 {
        self.next.get(&app_id).map_or(self.now, |next| self.now.max(*next))
    }
}

/// The runs that wait for slots. Apps take turns at each set of slots, by their weights; of one app the run goes first that has waited longest,
/// counted from its due time less its priority. A run whose slots are not all free is passed by those that need others.
#[derive(Debug, Default)]
pub struct Turns {
    lanes: HashMap<Lane, BTreeSet<Place>>,
    runs: HashMap<i64, (Lane, Millis)>,
    progress: HashMap<SlotKey, Progress>,
}

impl Turns {
    /// Adds a run, or moves it: `order` is its due time less its priority.
    pub fn insert(&mut self, run_id: i64, app_id: i64, order: Millis, slots: Arc<[SlotKey]>) {
        self.remove(run_id);
        let lane = Lane { app_id, slots };
        self.lanes.entry(lane.clone()).or_default().insert((order, run_id));
        self.runs.insert(run_id, (lane, order));
    }

    /// Takes a run out; false: it does not wait here.
    pub fn remove(&mut self, run_id: i64) -> bool {
        let Some((lane, order)) = self.runs.remove(&run_id) else {
            return false;
        };
        if let Some(runs) = self.lanes.get_mut(&lane) {
            runs.remove(&(order, run_id));
            if runs.is_empty() {
                self.lanes.remove(&lane);
            }
        }
        true
    }

    /// How many runs wait.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// A run waits here.
    pub fn contains(&self, run_id: i64) -> bool {
        self.runs.contains_key(&run_id)
    }

    /// The runs that wait, in no order.
    pub fn run_ids(&self) -> impl Iterator<Item = i64> {
        self.runs.keys().copied()
    }

    /// The slots that runs wait for, each once.
    pub fn slots(&self) -> BTreeSet<SlotKey> {
        self.lanes.keys().flat_map(|lane| lane.slots.iter().copied()).collect()
    }

    /// Takes out the runs that go now, at most `most` of them, in their order. `free`: how many slots may be taken, and
    /// afterwards how many are left; what is not there has none.
    pub fn choose(&mut self, free: &mut HashMap<SlotKey, u32>, weight: impl Fn(i64) -> u32, most: usize) -> Vec<i64> {
        let contested = self.contested();
        let mut heads = BinaryHeap::new();
        for (lane, runs) in &self.lanes {
            if is_open(lane, free)
                && let Some(first) = runs.first()
            {
                heads.push(Reverse((self.rank(lane, &contested), first.0, first.1)));
            }
        }
        let mut chosen = Vec::new();
        let mut started: HashMap<SlotKey, u64> = HashMap::new();
        while chosen.len() < most
            && let Some(Reverse((rank, order, run_id))) = heads.pop()
        {
            let Some((lane, _)) = self.runs.get(&run_id) else { continue };
            let lane = lane.clone();
            if !is_open(&lane, free) {
                continue;
            }
            // Ranks only grow: what has grown since it was put there goes back to its place.
            let current = self.rank(&lane, &contested);
            if current > rank {
                heads.push(Reverse((current, order, run_id)));
                continue;
            }
            let cost = STRIDE / u64::from(weight(lane.app_id).clamp(1, MAX_WEIGHT));
            for slot in &*lane.slots {
                if let Some(left) = free.get_mut(slot) {
                    *left -= 1;
                }
                let progress = self.progress.entry(*slot).or_default();
                let start = progress.start_of(lane.app_id);
                progress.next.insert(lane.app_id, start + cost);
                let last = started.entry(*slot).or_default();
                *last = start.max(*last);
            }
            self.remove(run_id);
            chosen.push(run_id);
            if let Some(first) = self.lanes.get(&lane).and_then(BTreeSet::first) {
                heads.push(Reverse((self.rank(&lane, &contested), first.0, first.1)));
            }
        }
        for (slot, start) in started {
            if let Some(progress) = self.progress.get_mut(&slot) {
                progress.now = progress.now.max(start);
            }
        }
        let waiting = self.slots();
        self.progress.retain(|slot, _| waiting.contains(slot));
        chosen
    }

    /// The slots that more than one app waits for. Where an app waits alone it is always ahead of the others by its own last run, which says
    /// nothing of its turn elsewhere.
    fn contested(&self) -> HashSet<SlotKey> {
        let mut first_app: HashMap<SlotKey, i64> = HashMap::new();
        let mut contested = HashSet::new();
        for lane in self.lanes.keys() {
            for slot in &*lane.slots {
                if *first_app.entry(*slot).or_insert(lane.app_id) != lane.app_id {
                    contested.insert(*slot);
                }
            }
        }
        contested
    }

    /// How far its app is ahead where it is furthest, of the slots that other apps wait for too.
    fn rank(&self, lane: &Lane, contested: &HashSet<SlotKey>) -> u64 {
        let ahead = |slot| {
            let progress: &Progress = self.progress.get(slot)?;
            Some(progress.start_of(lane.app_id) - progress.now)
        };
        lane.slots.iter().filter(|slot| contested.contains(slot)).filter_map(ahead).max().unwrap_or(0)
    }
}

fn is_open(lane: &Lane, free: &HashMap<SlotKey, u32>) -> bool {
    lane.slots.iter().all(|slot| free.get(slot).is_some_and(|left| *left > 0))
}
