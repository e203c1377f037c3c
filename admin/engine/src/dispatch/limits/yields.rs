//! Beside other nodes, the node that has taken the last slot of a set lets the others look first when one is free again. Without this the
//! node that stores the ends of runs would take each slot again before another hears of it.

use std::time::Duration;

use carillon_scheduler::SlotKey;
use foldhash::HashMap;

/// The slots of which this node took the last one; with the time until which it leaves them to others, once one is free again.
#[derive(Debug, Default)]
pub(crate) struct Yields(HashMap<SlotKey, Option<Duration>>);

impl Yields {
    /// How many of the free slots may be taken now. `pause`: how long the others go first. `is_hinted`: another node has said that slots are
    /// free, so what is taken by now was taken by another one.
    pub fn allowed(&mut self, slot: SlotKey, free: u32, now: Duration, pause: Duration, is_hinted: bool) -> u32 {
        let Some(until) = self.0.get_mut(&slot) else {
            return free;
        };
        // Another node has had its turn.
        if free == 0 && (until.is_some() || is_hinted) {
            self.0.remove(&slot);
            return 0;
        }
        match *until {
            None if free > 0 => *until = Some(now + pause),
            Some(until) if until <= now => return free,
            _ => {}
        }
        0
    }

    /// This node takes the last slot of the set.
    pub fn took_last(&mut self, slot: SlotKey) {
        self.0.insert(slot, None);
    }

    /// When a slot that is left to others may be taken.
    pub fn next_end(&self, now: Duration) -> Option<Duration> {
        // What could be taken by now, and was not, waits for something else.
        self.0.values().copied().flatten().filter(|end| *end > now).min()
    }

    /// Forgets the slots that no run here waits for.
    pub fn retain(&mut self, is_waited_for: impl Fn(&SlotKey) -> bool) {
        self.0.retain(|slot, _| is_waited_for(slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: SlotKey = SlotKey { limit_id: 1, key: 0 };

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Two nodes with runs for one slot. All ends are stored at the first; the second hears of each 12 ms later. Answers who went.
    fn turns_of_two_nodes(turns: usize, pauses: [Duration; 2]) -> Vec<usize> {
        let mut nodes = [Yields::default(), Yields::default()];
        let (mut went, mut now) = (vec![], ms(0));
        while went.len() < turns {
            let mut looks = [(now, 0, false), (now + ms(12), 1, true)].to_vec();
            let mut free = 1;
            while let Some(next) = (0..looks.len()).min_by_key(|place| looks[*place].0) {
                let (at, node, is_hinted) = looks.remove(next);
                let had = free;
                if nodes[node].allowed(SLOT, free, at, pauses[node], is_hinted) > 0 {
                    nodes[node].took_last(SLOT);
                    went.push(node);
                    free = 0;
                } else if had > 0 {
                    looks.push((nodes[node].next_end(at).unwrap(), node, false));
                }
            }
            now += ms(1_000);
        }
        went
    }

    #[test]
    fn two_nodes_take_the_only_slot_in_turn_wherever_its_runs_end() {
        for pauses in [[20, 40], [40, 20], [25, 25]] {
            let went = turns_of_two_nodes(20, pauses.map(ms));
            assert_eq!(went.iter().filter(|node| **node == 1).count(), 10, "{pauses:?} {went:?}");
        }
    }

    #[test]
    fn what_others_leave_is_taken_after_the_pause() {
        let mut yields = Yields::default();
        let allowed = |yields: &mut Yields, free, now| yields.allowed(SLOT, free, ms(now), ms(30), false);
        assert_eq!(allowed(&mut yields, 3, 0), 3);
        yields.took_last(SLOT);
        assert_eq!((allowed(&mut yields, 0, 1), yields.next_end(ms(1))), (0, None));
        assert_eq!((allowed(&mut yields, 1, 100), yields.next_end(ms(100))), (0, Some(ms(130))));
        assert_eq!((allowed(&mut yields, 2, 129), allowed(&mut yields, 2, 130)), (0, 2));
        assert_eq!(yields.next_end(ms(130)), None);
        yields.retain(|_| false);
        assert_eq!(allowed(&mut yields, 1, 131), 1);
    }
}
