//! A hierarchical timing wheel with the manners of `Timers`: 60 slots of 1 s, 60 of 1 min, 24 of 1 h, and what lies
//! further off in a sorted map. A slot is 1 s wide on the first level, so three levels cover a day; Kafka's terms.
//!
//! No empty ticks: a bit for each slot says whether it holds anything, and the wheel jumps to the next such slot.
//! Coarser slots come down to finer ones when their time begins. It exists to be measured, and is tested for that.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Seconds of a slot, and slots, of each level.
pub const LEVELS: [(i64, i64); 3] = [(1, 60), (60, 60), (3_600, 24)];

#[derive(Debug)]
struct Level<K> {
    width: i64,
    slots: Vec<Vec<(i64, K)>>,
    /// Which slots hold something.
    taken: u64,
}

impl<K> Level<K> {
    fn new((width, slots): (i64, i64)) -> Self {
        Self { width, slots: (0..slots).map(|_| Vec::new()).collect(), taken: 0 }
    }

    fn slot(&self, second: i64) -> usize {
        (second / self.width).rem_euclid(self.slots.len() as i64) as usize
    }

    fn push(&mut self, second: i64, key: K) {
        let slot = self.slot(second);
        self.slots[slot].push((second, key));
        self.taken |= 1 << slot;
    }

    fn take(&mut self, second: i64) -> Vec<(i64, K)> {
        let slot = self.slot(second);
        self.taken &= !(1 << slot);
        std::mem::take(&mut self.slots[slot])
    }

    /// The beginning of the first slot that holds something, from that of `second` on.
    fn next(&self, second: i64) -> Option<i64> {
        let size = self.slots.len() as u32;
        let from = self.slot(second) as u32;
        // The slots in the order of their time, `from` first.
        let turned = self.taken >> from | self.taken << (size - from) & ((1 << size) - 1);
        (turned != 0).then(|| (second / self.width + i64::from(turned.trailing_zeros())) * self.width)
    }
}

/// Timers on a wheel, in whole seconds.
#[derive(Debug)]
pub struct Wheel<K> {
    /// A key's deadline, and the second for which it is armed.
    deadlines: HashMap<K, (i64, i64)>,
    levels: [Level<K>; 3],
    overflow: BTreeMap<i64, Vec<(i64, K)>>,
    due: Vec<(i64, K)>,
    /// The second up to which everything is out.
    now: i64,
    /// Slots that were opened.
    pub turns: usize,
}

impl<K: Copy + Eq + Hash> Wheel<K> {
    pub fn new(now: i64) -> Self {
        Self {
            deadlines: HashMap::new(),
            levels: LEVELS.map(Level::new),
            overflow: BTreeMap::new(),
            due: Vec::new(),
            now,
            turns: 0,
        }
    }

    /// A later deadline than before is only written down.
    pub fn insert(&mut self, key: K, deadline: i64) {
        match self.deadlines.get_mut(&key) {
            Some(timer) if timer.1 <= deadline => timer.0 = deadline,
            _ => {
                self.deadlines.insert(key, (deadline, deadline));
                self.arm(deadline, key);
            }
        }
    }

    pub fn cancel(&mut self, key: &K) {
        self.deadlines.remove(key);
    }

    /// On which level a deadline lies, counted from 1; 4: beyond all.
    pub fn level(&self, deadline: i64) -> usize {
        let near = |level: &Level<K>| deadline / level.width - self.now / level.width < level.slots.len() as i64;
        self.levels.iter().position(near).unwrap_or(3) + 1
    }

    fn arm(&mut self, second: i64, key: K) {
        if second <= self.now {
            return self.due.push((second, key));
        }
        match self.level(second) {
            4 => self.overflow.entry(second / 3_600).or_default().push((second, key)),
            level => self.levels[level - 1].push(second, key),
        }
    }

    /// The next second at which a slot has to be opened.
    pub fn next_slot(&self) -> Option<i64> {
        let levels = self.levels.iter().filter_map(|level| level.next(self.now + 1));
        // What is beyond comes in as soon as its hour is on the wheel.
        let beyond = self.overflow.keys().next().map(|hour| (hour - 23) * 3_600);
        levels.chain(beyond).min().map(|at| at.max(self.now + 1))
    }

    /// Goes on to the second `now` and gives everything that is due.
    pub fn expire(&mut self, now: i64, mut out: impl FnMut(K)) {
        while let Some(at) = self.next_slot().filter(|&at| at <= now) {
            self.now = at;
            self.turns += 1;
            self.open(at);
        }
        self.now = self.now.max(now);
        for (armed, key) in std::mem::take(&mut self.due) {
            match self.deadlines.get_mut(&key).filter(|timer| timer.1 == armed) {
                Some(timer) if timer.0 <= now => {
                    self.deadlines.remove(&key);
                    out(key);
                }
                Some(timer) => {
                    timer.1 = timer.0;
                    let deadline = timer.0;
                    self.arm(deadline, key);
                }
                None => {}
            }
        }
    }

    /// Opens the slots that begin at a second, the coarsest first.
    fn open(&mut self, at: i64) {
        while let Some(hour) = self.overflow.first_entry().filter(|hour| *hour.key() - 23 <= at / 3_600) {
            for (second, key) in hour.remove() {
                self.arm(second, key);
            }
        }
        for level in (0..3).rev() {
            if at % self.levels[level].width == 0 {
                for (second, key) in self.levels[level].take(at) {
                    self.arm(second, key);
                }
            }
        }
    }
}
