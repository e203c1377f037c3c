//! Timers for what is not a fire: time-outs and leases.
//!
//! One timer for each key. A binary heap says which is next; a map has each key's deadline as it is now. To move a
//! deadline further off, which is what a heartbeat does, writes to the map alone: the heap learns of it when the old
//! deadline is reached (as SOFARegistry re-arms its leases). A cancelled timer leaves the heap in the same lazy way.
//!
//! There are no ticks: whoever owns the timers sleeps until [`Timers::next_deadline`]. A hierarchical timing wheel was
//! measured against this and lies in `benches/timers`; the README has the table.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;

use crate::Millis;

/// Entries of the heap that no longer mean anything are cleared away when there are more of them than timers, and this
/// many besides.
const SLACK: usize = 64;

/// Timers by key.
#[derive(Debug, Clone)]
pub struct Timers<K> {
    timers: HashMap<K, Timer>,
    heap: BinaryHeap<Reverse<(Millis, K)>>,
}

#[derive(Debug, Clone, Copy)]
struct Timer {
    deadline: Millis,
    /// The time under which the heap has it: the deadline, or an earlier one.
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

    /// Sets the key's timer to `deadline`, UTC ms; gives back the deadline that it had. A later deadline than before
    /// costs one write to the map.
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
            self.clear_away();
        }
        Some(before)
    }

    /// Takes the key's timer away; gives back its deadline.
    pub fn cancel(&mut self, key: &K) -> Option<Millis> {
        let timer = self.timers.remove(key)?;
        self.clear_away();
        Some(timer.deadline)
    }

    /// The deadline of the key's timer.
    pub fn deadline(&self, key: &K) -> Option<Millis> {
        self.timers.get(key).map(|timer| timer.deadline)
    }

    /// The earliest deadline of all. Until then there is nothing to do.
    pub fn next_deadline(&mut self) -> Option<Millis> {
        self.settle();
        self.heap.peek().map(|Reverse((deadline, _))| *deadline)
    }

    /// Takes out the timer with the earliest deadline if that is at or before `now`; of equal ones the least key. A
    /// deadline that was moved before this call counts, so who is renewed in time is never taken.
    pub fn pop_due(&mut self, now: Millis) -> Option<(K, Millis)> {
        self.settle();
        let due = self.heap.peek_mut().filter(|first| first.0.0 <= now)?;
        let Reverse((deadline, key)) = PeekMut::pop(due);
        self.timers.remove(&key);
        Some((key, deadline))
    }

    /// How many timers there are.
    pub fn len(&self) -> usize {
        self.timers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.timers.is_empty()
    }

    /// Makes the first entry of the heap mean what it says.
    fn settle(&mut self) {
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

    fn clear_away(&mut self) {
        if self.heap.len() <= 2 * self.timers.len() + SLACK {
            return;
        }
        let arm = |(&key, timer): (&K, &mut Timer)| {
            timer.armed = timer.deadline;
            Reverse((timer.deadline, key))
        };
        self.heap = self.timers.iter_mut().map(arm).collect();
    }
}

#[cfg(test)]
mod tests;
