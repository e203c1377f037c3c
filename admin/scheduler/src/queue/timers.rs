//! Keyed timers, for time-outs and leases.
//!
//! One timer for each key. A binary heap orders the timers; a map has the current deadline of each key. A later deadline,
//! which is what a heartbeat sets, is written to the map alone: the heap is updated when the old deadline is reached (as
//! SOFARegistry re-arms its leases). A cancelled timer is removed from the heap in the same lazy way.
//!
//! There are no ticks: the owner of the timers sleeps until [`Timers::next_deadline`].

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;

use crate::time::Millis;

/// Obsolete entries of the heap are removed when there are more of them than timers plus this number.
pub(super) const MAX_OBSOLETE: usize = 64;

/// Timers by key.
#[derive(Debug, Clone)]
pub struct Timers<K> {
    timers: HashMap<K, Timer>,
    pub(super) heap: BinaryHeap<Reverse<(Millis, K)>>,
}

#[derive(Debug, Clone, Copy)]
struct Timer {
    deadline: Millis,
    /// The time of its valid entry in the heap: the deadline, or earlier.
    armed: Millis,
}

impl<K> Default for Timers<K>
where
    K: Copy + Eq + Hash + Ord,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Timers<K>
where
    K: Copy + Eq + Hash + Ord,
{
    /// No timers.
    pub fn new() -> Self {
        Self { timers: HashMap::new(), heap: BinaryHeap::new() }
    }

    /// Sets the key's timer to `deadline`, UTC ms, and returns the previous deadline. A later deadline costs one write to
    /// the map.
    pub fn insert(&mut self, key: K, deadline: Millis) -> Option<Millis> {
        let Some(timer) = self.timers.get_mut(&key) else {
            let armed = deadline;
            self.timers.insert(key, Timer { deadline, armed });
            self.heap.push(Reverse((deadline, key)));
            return None;
        };
        let before = std::mem::replace(&mut timer.deadline, deadline);
        if deadline < timer.armed {
            timer.armed = deadline;
            self.heap.push(Reverse((deadline, key)));
            self.remove_obsolete();
        }
        Some(before)
    }

    /// Removes the key's timer and returns its deadline.
    pub fn cancel(&mut self, key: &K) -> Option<Millis> {
        let timer = self.timers.remove(key)?;
        self.remove_obsolete();
        Some(timer.deadline)
    }

    /// The deadline of the key's timer.
    pub fn deadline(&self, key: &K) -> Option<Millis> {
        self.timers.get(key).map(|timer| timer.deadline)
    }

    /// The earliest deadline.
    pub fn next_deadline(&mut self) -> Option<Millis> {
        self.refresh_first();
        self.heap.peek().map(|Reverse((deadline, _))| *deadline)
    }

    /// Removes and returns the timer with the earliest deadline if that is at or before `now`; of equal ones the least key.
    /// A timer whose deadline was moved before this call is not returned early.
    pub fn pop_due(&mut self, now: Millis) -> Option<(K, Millis)> {
        self.refresh_first();
        let due = self.heap.peek_mut().filter(|first| first.0.0 <= now)?;
        let Reverse((deadline, key)) = PeekMut::pop(due);
        self.timers.remove(&key);
        Some((key, deadline))
    }

    /// The number of timers.
    pub fn len(&self) -> usize {
        self.timers.len()
    }

    /// Whether there are no timers.
    pub fn is_empty(&self) -> bool {
        self.timers.is_empty()
    }

    /// Makes the first entry of the heap valid.
    fn refresh_first(&mut self) {
        while let Some(mut first) = self.heap.peek_mut() {
            let Reverse((at, key)) = *first;
            match self.timers.get_mut(&key).filter(|timer| timer.armed == at) {
                Some(timer) if timer.deadline == at => return,
                Some(timer) => {
                    timer.armed = timer.deadline;
                    *first = Reverse((timer.deadline, key));
                }
                None => {
                    PeekMut::pop(first);
                }
            }
        }
    }

    fn remove_obsolete(&mut self) {
        if self.heap.len() <= 2 * self.timers.len() + MAX_OBSOLETE {
            return;
        }
        let arm = |(&key, timer): (&K, &mut Timer)| {
            timer.armed = timer.deadline;
            Reverse((timer.deadline, key))
        };
        self.heap = self.timers.iter_mut().map(arm).collect();
    }
}
