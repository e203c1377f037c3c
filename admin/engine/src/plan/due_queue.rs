//! The way into the ring.

use carillon_scheduler::{Millis, Ring};

use crate::Pipeline;
use crate::store::run::adopt::Waiting;

impl Pipeline {
    /// Wakes the tick if this is due before all others.
    pub(crate) fn put_in_ring(&self, run: Waiting, at: Millis) {
        let mut ring = self.ring();
        let next = ring.next_due();
        enter(&mut ring, run, at);
        drop(ring);
        if next.is_none_or(|next| at < next) {
            self.tick_wake.notify_one();
        }
    }
}

/// A run is in the ring once, under the newest epoch. One that waited for another try while its shard was lost and taken
/// again is worth nothing under its old epoch, and must not keep out what was read under the new one.
fn enter(ring: &mut Ring<Waiting>, run: Waiting, at: Millis) {
    // Epochs of two shards tell nothing about each other: it has moved since.
    let is_newer = |there: &Waiting| run.shard != there.shard || run.epoch > there.epoch;
    if ring.get(run.run_id).is_some_and(is_newer) {
        ring.remove(run.run_id);
    }
    ring.insert(at, run.run_id, run.shard, run);
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::Cause;

    use super::*;

    fn waiting(epoch: i64) -> Waiting {
        Waiting {
            run_id: 7,
            job_id: 1,
            shard: 2,
            epoch,
            cause: Cause::Schedule,
            fire_no: 1_000,
            part: 0,
            parts: 1,
            attempt: 1,
            scheduled_at: 1_000,
            due_at: 1_000,
            bound_to: None,
            overlaps: false,
        }
    }

    fn epochs(ring: &mut Ring<Waiting>, until: Millis) -> Vec<i64> {
        let due = ring.drain_due(until).into_iter();
        due.map(|entry| entry.payload.epoch).collect()
    }

    #[test]
    fn what_was_read_under_a_new_epoch_takes_the_place_of_the_old() {
        let mut ring = Ring::new(10);
        enter(&mut ring, waiting(4), 1_200);
        enter(&mut ring, waiting(5), 1_000);
        assert_eq!(epochs(&mut ring, 1_000), [5]);
        assert_eq!(epochs(&mut ring, 9_000), [0; 0]);
    }

    #[test]
    fn an_old_epoch_or_the_same_again_changes_nothing() {
        let mut ring = Ring::new(10);
        enter(&mut ring, waiting(5), 1_200);
        enter(&mut ring, waiting(4), 1_000);
        enter(&mut ring, waiting(5), 1_000);
        assert_eq!(epochs(&mut ring, 1_000), [0; 0], "an entry that waits goes on waiting");
        assert_eq!(epochs(&mut ring, 1_200), [5]);
    }
}
