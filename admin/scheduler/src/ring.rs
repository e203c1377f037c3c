//! The runs that are due within the next seconds, by second.
//!
//! 60 slots of one second, as the field has it; slot = absolute second modulo 60, the first second of the epoch being
//! slot 0. Unlike a plain wheel every entry keeps its **absolute** due time, and a drain visits every slot since the
//! last one: a stall makes entries late by the stall, never by a minute, and nothing is ever early.

use std::collections::{BTreeMap, HashMap};

use crate::Millis;

const SLOTS: i64 = 60;

/// A run that waits for its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<T> {
    /// The run; each is in the ring at most once.
    pub run_id: i64,
    /// The shard of its job.
    pub shard: i32,
    /// When it is to be sent, UTC ms.
    pub due_at: Millis,
    /// What else its owner wants to know.
    pub payload: T,
}

/// The ring. It is filled from run rows alone and can be lost at any time without losing a run.
#[derive(Debug)]
pub struct Ring<T> {
    capacity: usize,
    slots: Vec<BTreeMap<(Millis, i64), Entry<T>>>,
    places: HashMap<i64, Place>,
    /// The greatest second that was drained. What is due at or before it lies in this second's slot.
    drained: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    slot: usize,
    due_at: Millis,
}

impl<T> Ring<T> {
    /// A ring that wants to hold at most `capacity` entries, see [`Ring::free`].
    pub fn new(capacity: usize) -> Self {
        let slots = (0..SLOTS).map(|_| BTreeMap::new()).collect();
        Self { capacity, slots, places: HashMap::new(), drained: None }
    }

    /// Puts a run in; `false` if it is in already (then nothing changes). What is overdue comes out with the next
    /// drain. A full ring still takes it: what was claimed must not be forgotten.
    pub fn insert(&mut self, due_at: Millis, run_id: i64, shard: i32, payload: T) -> bool {
        if self.places.contains_key(&run_id) {
            return false;
        }
        let second = self.drained.map_or(second_of(due_at), |drained| drained.max(second_of(due_at)));
        let place = Place { slot: slot_of(second), due_at };
        self.slots[place.slot].insert((due_at, run_id), Entry { run_id, shard, due_at, payload });
        self.places.insert(run_id, place);
        true
    }

    /// Takes out everything that is due at or before `until`, however late this is asked, the earliest first.
    pub fn drain_due(&mut self, until: Millis) -> Vec<Entry<T>> {
        let now = second_of(until);
        // A clock that went back: all that can be due lies in the slot of the last drain, which is visited always.
        let last = self.drained.map_or(now, |drained| drained.max(now));
        let first = self.drained.map_or(last - SLOTS + 1, |drained| drained.max(last - SLOTS + 1));
        let mut due = Vec::new();
        for second in first..=last {
            let slot = &mut self.slots[slot_of(second)];
            while let Some(entry) = slot.first_entry().filter(|entry| entry.key().0 <= until) {
                due.push(entry.remove());
            }
        }
        self.drained = Some(last);
        due.sort_unstable_by_key(|entry| (entry.due_at, entry.run_id));
        for entry in &due {
            self.places.remove(&entry.run_id);
        }
        due
    }

    /// Takes a run out, if it is in.
    pub fn remove(&mut self, run_id: i64) -> Option<Entry<T>> {
        let place = self.places.remove(&run_id)?;
        self.slots[place.slot].remove(&(place.due_at, run_id))
    }

    /// Drops all runs of a shard that is no longer ours; says how many.
    pub fn remove_shard(&mut self, shard: i32) -> usize {
        let before = self.places.len();
        for slot in &mut self.slots {
            slot.retain(|_, entry| {
                let stays = entry.shard != shard;
                if !stays {
                    self.places.remove(&entry.run_id);
                }
                stays
            });
        }
        before - self.places.len()
    }

    /// What its owner wants to know of a run, if it is in.
    pub fn get(&self, run_id: i64) -> Option<&T> {
        let place = self.places.get(&run_id)?;
        let entry = self.slots[place.slot].get(&(place.due_at, run_id))?;
        Some(&entry.payload)
    }

    /// Whether a run is in.
    pub fn contains(&self, run_id: i64) -> bool {
        self.places.contains_key(&run_id)
    }

    /// How many runs are in.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether none is in.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many may still be claimed.
    pub fn free(&self) -> usize {
        self.capacity.saturating_sub(self.places.len())
    }

    /// When the next one is due.
    pub fn next_due(&self) -> Option<Millis> {
        self.slots.iter().filter_map(|slot| slot.first_key_value()).map(|(&(due_at, _), _)| due_at).min()
    }
}

const fn second_of(at: Millis) -> i64 {
    at.div_euclid(1_000)
}

const fn slot_of(second: i64) -> usize {
    second.rem_euclid(SLOTS) as usize
}

#[cfg(test)]
mod tests;
