//! The runs that are due within the next seconds, by second.
//!
//! 60 slots of one second, as in xxl-job; slot = absolute second modulo 60, so second 0 of the epoch is in slot 0. Unlike in
//! a plain wheel, every entry keeps its **absolute** due time, and a drain visits every slot since the last one: a stall
//! makes entries late by the stall, never by a minute, and no entry is early.

use std::collections::{BTreeMap, HashMap};

use crate::time::Millis;

const SLOTS: i64 = 60;

/// A run that waits for its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<T> {
    /// The run; each is in the ring at most once.
    pub run_id: i64,
    /// The shard of its job.
    pub shard: i32,
    /// When it is due, UTC ms.
    pub due_at: Millis,
    /// Data of the caller.
    pub payload: T,
}

/// The ring. It is filled only from run rows, so it can be discarded at any time without losing a run.
#[derive(Debug)]
pub struct Ring<T> {
    capacity: usize,
    pub(super) slots: Vec<BTreeMap<(Millis, i64), Entry<T>>>,
    slot_keys: HashMap<i64, SlotKey>,
    /// The greatest second that was drained. Entries that are due at or before it are in the slot of this second.
    drained: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
struct SlotKey {
    slot: usize,
    due_at: Millis,
}

impl<T> Ring<T> {
    /// A ring for about `capacity` entries; see [`Ring::free`].
    pub fn new(capacity: usize) -> Self {
        let slots = (0..SLOTS).map(|_| BTreeMap::new()).collect();
        Self { capacity, slots, slot_keys: HashMap::new(), drained: None }
    }

    /// Inserts a run; `false` if the ring has it already (then nothing changes). The next drain returns overdue entries. A
    /// full ring accepts the run as well, because a claimed run must not be lost.
    pub fn insert(&mut self, due_at: Millis, run_id: i64, shard: i32, payload: T) -> bool {
        if self.slot_keys.contains_key(&run_id) {
            return false;
        }
        let second = self.drained.map_or(second_of(due_at), |drained| drained.max(second_of(due_at)));
        let key = SlotKey { slot: slot_of(second), due_at };
        self.slots[key.slot].insert((due_at, run_id), Entry { run_id, shard, due_at, payload });
        self.slot_keys.insert(run_id, key);
        true
    }

    /// Removes and returns all entries that are due at or before `until`, however late the call, the earliest first.
    pub fn drain_due(&mut self, until: Millis) -> Vec<Entry<T>> {
        let now = second_of(until);
        // If the clock went back, all entries that can be due are in the slot of the last drain, which is always visited.
        let last = self.drained.map_or(now, |drained| drained.max(now));
        let first = self.drained.map_or(last - SLOTS + 1, |drained| drained.max(last - SLOTS + 1));
        let mut due = Vec::new();
        for second in first..=last {
            let slot = &mut self.slots[slot_of(second)];
            // Taken as a whole: to take one entry after the other would move the rest of its node each time.
            let left = slot.split_off(&(until.saturating_add(1), i64::MIN));
            due.extend(std::mem::replace(slot, left).into_values());
        }
        self.drained = Some(last);
        due.sort_unstable_by_key(|entry| (entry.due_at, entry.run_id));
        for entry in &due {
            self.slot_keys.remove(&entry.run_id);
        }
        due
    }

    /// Removes a run.
    pub fn remove(&mut self, run_id: i64) -> Option<Entry<T>> {
        let key = self.slot_keys.remove(&run_id)?;
        self.slots[key.slot].remove(&(key.due_at, run_id))
    }

    /// Removes all runs of a shard and returns their number.
    pub fn remove_shard(&mut self, shard: i32) -> usize {
        let before = self.slot_keys.len();
        for slot in &mut self.slots {
            slot.retain(|_, entry| {
                let is_kept = entry.shard != shard;
                if !is_kept {
                    self.slot_keys.remove(&entry.run_id);
                }
                is_kept
            });
        }
        before - self.slot_keys.len()
    }

    /// The payload of a run.
    pub fn get(&self, run_id: i64) -> Option<&T> {
        let key = self.slot_keys.get(&run_id)?;
        let entry = self.slots[key.slot].get(&(key.due_at, run_id))?;
        Some(&entry.payload)
    }

    /// The payloads of all runs, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flat_map(|slot| slot.values()).map(|entry| &entry.payload)
    }

    /// The number of runs.
    pub fn len(&self) -> usize {
        self.slot_keys.len()
    }

    /// Whether the ring is empty.
    pub fn is_empty(&self) -> bool {
        self.slot_keys.is_empty()
    }

    /// How many more runs may be claimed.
    pub fn free(&self) -> usize {
        self.capacity.saturating_sub(self.slot_keys.len())
    }

    /// The earliest due time.
    pub fn next_due(&self) -> Option<Millis> {
        self.slots.iter().filter_map(|slot| slot.first_key_value()).map(|(&(due_at, _), _)| due_at).min()
    }
}

pub(super) const fn second_of(at: Millis) -> i64 {
    at.div_euclid(1_000)
}

pub(super) const fn slot_of(second: i64) -> usize {
    second.rem_euclid(SLOTS) as usize
}
