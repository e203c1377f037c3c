//! A map with a bound: what was not used lately makes room for what is new.
//!
//! A clock hand goes round the entries; one that was used since its last visit stays for another turn. So an insertion costs
//! a few steps however full the map is. Dropping everything at a bound was rejected: the next load would fill it and drop it
//! again.

use foldhash::{HashMap, HashMapExt as _};

/// An insertion looks at no more entries than this for each one that has to go.
const STEPS: usize = 64;

pub struct ClockCache<V> {
    slots: Vec<Slot<V>>,
    places: HashMap<i64, usize>,
    hand: usize,
    weight: usize,
    most: usize,
}

struct Slot<V> {
    key: i64,
    value: V,
    weight: usize,
    is_used: bool,
}

impl<V> ClockCache<V> {
    /// Holds values of this weight in all.
    pub fn new(most: usize) -> Self {
        Self { slots: Vec::new(), places: HashMap::new(), hand: 0, weight: 0, most }
    }

    pub fn weight(&self) -> usize {
        self.weight
    }

    pub fn get(&mut self, key: i64) -> Option<&mut V> {
        let slot = &mut self.slots[*self.places.get(&key)?];
        slot.is_used = true;
        Some(&mut slot.value)
    }

    /// Replaces what was there.
    pub fn insert(&mut self, key: i64, value: V, weight: usize) {
        self.remove(key);
        while !self.slots.is_empty() && self.weight + weight > self.most {
            self.drop_one();
        }
        self.weight += weight;
        self.places.insert(key, self.slots.len());
        self.slots.push(Slot { key, value, weight, is_used: false });
    }

    pub fn remove(&mut self, key: i64) {
        if let Some(place) = self.places.get(&key).copied() {
            self.take_out(place);
        }
    }

    pub fn retain(&mut self, keep: impl Fn(&V) -> bool) {
        let mut place = 0;
        while let Some(slot) = self.slots.get(place) {
            if keep(&slot.value) {
                place += 1;
            } else {
                self.take_out(place);
            }
        }
    }

    fn drop_one(&mut self) {
        for _ in 0..STEPS {
            self.hand %= self.slots.len();
            if !std::mem::take(&mut self.slots[self.hand].is_used) {
                break;
            }
            self.hand += 1;
        }
        self.hand %= self.slots.len();
        self.take_out(self.hand);
    }

    /// The last one takes its place.
    fn take_out(&mut self, place: usize) {
        let slot = self.slots.swap_remove(place);
        self.places.remove(&slot.key);
        self.weight -= slot.weight;
        if let Some(moved) = self.slots.get(place) {
            self.places.insert(moved.key, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: F11
    #[test]
    fn a_full_map_drops_what_is_not_used_and_never_grows() {
        let mut cache = ClockCache::new(1000);
        for key in 0..10 {
            cache.insert(key, key, 10);
        }
        for key in 10..100_000 {
            cache.insert(key, key, 10);
            for used in 0..10 {
                assert_eq!(cache.get(used).copied(), Some(used));
            }
            assert!(cache.weight() <= 1000);
        }
        assert_eq!((cache.slots.len(), cache.places.len()), (100, 100));
        cache.insert(5, 5, 400);
        assert!(cache.weight() <= 1000 && cache.get(5).is_some());
        cache.retain(|value| *value == 5);
        assert_eq!((cache.weight(), cache.slots.len(), cache.places.len()), (400, 1, 1));
        cache.insert(6, 6, 5000);
        assert_eq!(cache.places.len(), 1, "one that is too large is alone");
    }
}
