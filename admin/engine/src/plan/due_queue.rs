//! Runs that wait in memory for their second: the ring, and what wakes the dispatcher.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use carillon_scheduler::{Millis, Place, Ring};
use foldhash::{HashMap, HashMapExt as _};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::lease::held_shards::ShardListener;
use crate::plan::deferred_runs::DeferredRuns;
use carillon_store::run::adopt::ClaimedRun;

pub struct DueQueue {
    ring: Mutex<Ring<ClaimedRun>>,
    deferred: Mutex<DeferredRuns>,
    pub capacity: usize,
    /// Runs that the dispatcher has taken and not yet sent or put back.
    taken: AtomicUsize,
    /// It was reported that the ring is full.
    is_full: AtomicBool,
    /// A run is due before all others, or an executor has room again: wakes the dispatcher.
    pub wake: Arc<Notify>,
}

impl DueQueue {
    pub fn new(capacity: usize) -> Self {
        let (deferred, taken, is_full, wake) = Default::default();
        Self { ring: Mutex::new(Ring::new(capacity)), deferred, capacity, taken, is_full, wake }
    }

    /// Wakes the dispatcher if this is due before all others.
    pub fn insert(&self, run: ClaimedRun, at: Millis) {
        self.insert_all(std::iter::once((run, at)));
    }

    /// The same for many: each with the moment at which it is due.
    pub fn insert_all(&self, runs: impl Iterator<Item = (ClaimedRun, Millis)>) {
        let mut ring = self.ring.lock();
        let next = ring.next_due();
        let inserted = runs.map(|(run, at)| {
            insert_newer(&mut ring, run, at);
            at
        });
        let earliest = inserted.min();
        drop(ring);
        if earliest.is_some_and(|earliest| next.is_none_or(|next| earliest < next)) {
            self.wake.notify_one();
        }
    }

    /// The run may be here already, for a later moment.
    pub fn insert_now(&self, run: ClaimedRun, now: Millis) {
        self.remove(run.run_id);
        self.insert(run, now);
    }

    /// Until an executor of its app has room, at most until then.
    pub fn defer(&self, run: ClaimedRun, app: &str, place: Place, until: Millis) {
        self.deferred.lock().add(app, place, until);
        self.insert(run, until);
    }

    /// Of those of an app, the first in their order.
    pub fn take_deferred(&self, app: &str, most: usize) -> Vec<ClaimedRun> {
        let (mut deferred, mut ring) = (self.deferred.lock(), self.ring.lock());
        let runs = std::iter::from_fn(|| deferred.pop(app));
        let runs: Vec<_> =
            runs.filter_map(|run_id| ring.remove(run_id)).map(|entry| entry.payload).take(most).collect();
        self.taken.fetch_add(runs.len(), Ordering::Relaxed);
        runs
    }

    /// Those of these runs that are here, in the order of the list.
    pub fn take(&self, run_ids: &[i64]) -> Vec<ClaimedRun> {
        let mut ring = self.ring.lock();
        let runs: Vec<_> = run_ids.iter().filter_map(|run_id| ring.remove(*run_id)).collect();
        drop(ring);
        self.taken.fetch_add(runs.len(), Ordering::Relaxed);
        runs.into_iter().map(|entry| entry.payload).collect()
    }

    /// Those of these runs that are not here.
    pub fn not_there(&self, run_ids: impl Iterator<Item = i64>) -> Vec<i64> {
        let ring = self.ring.lock();
        run_ids.filter(|run_id| ring.get(*run_id).is_none()).collect()
    }

    pub fn has_deferred(&self, app: &str) -> bool {
        self.deferred.lock().has(app)
    }

    pub fn remove(&self, run_id: i64) {
        self.ring.lock().remove(run_id);
    }

    /// In the order in which they were due: what has waited and comes back goes before what is new.
    pub fn drain_due(&self, until: Millis) -> Vec<ClaimedRun> {
        self.deferred.lock().remove_until(until);
        let mut ring = self.ring.lock();
        let due = ring.drain_due(until);
        self.taken.fetch_add(due.len(), Ordering::Relaxed);
        drop(ring);
        let mut due: Vec<_> = due.into_iter().map(|entry| entry.payload).collect();
        due.sort_by_key(|run| run.due_at);
        due
    }

    /// The dispatcher has sent, settled or put back all that it had taken.
    pub fn finish_tick(&self) {
        self.taken.store(0, Ordering::Relaxed);
    }

    /// Of these runs, those that are not here under this epoch.
    pub fn missing(&self, mut run_ids: Vec<i64>, epoch: i64) -> Vec<i64> {
        let ring = self.ring.lock();
        run_ids.retain(|id| ring.get(*id).is_none_or(|run| run.epoch != epoch));
        run_ids
    }

    pub fn next_due(&self) -> Option<Millis> {
        self.ring.lock().next_due()
    }

    /// Runs that wait although they were due before this moment, by job.
    pub fn due_before(&self, before: Millis) -> HashMap<i64, i64> {
        let mut by_job = HashMap::new();
        for run in self.ring.lock().iter().filter(|run| run.due_at < before) {
            *by_job.entry(run.job_id).or_default() += 1;
        }
        by_job
    }

    pub fn len(&self) -> usize {
        self.ring.lock().len()
    }

    /// For how many more runs there is room. What the dispatcher has taken counts until the end of its tick: where executors have
    /// no room it comes back, and a slow tick would let in as much again each time.
    pub fn free(&self) -> usize {
        let ring = self.ring.lock();
        ring.free().saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// True once, until there is room again: what is not claimed keeps its cursor, and is late.
    pub fn update_full_flag(&self, room: usize) -> bool {
        if room > self.capacity / 10 {
            self.is_full.store(false, Ordering::Relaxed);
        }
        room == 0 && !self.is_full.swap(true, Ordering::Relaxed)
    }
}

impl ShardListener for DueQueue {
    fn lost(&self, shard: i32) {
        self.ring.lock().remove_shard(shard);
    }
}

/// A run is in the ring once, under the newest epoch. One that waited for another try while its shard was lost and taken
/// again is worth nothing under its old epoch, and must not keep out what was read under the new one.
fn insert_newer(ring: &mut Ring<ClaimedRun>, run: ClaimedRun, at: Millis) {
    // Epochs of two shards cannot be compared: it has moved since.
    let is_newer = |there: &ClaimedRun| run.shard != there.shard || run.epoch > there.epoch;
    if ring.get(run.run_id).is_some_and(is_newer) {
        ring.remove(run.run_id);
    }
    ring.insert(at, run.run_id, run.shard, run);
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::Cause;

    use super::*;

    fn waiting(epoch: i64) -> ClaimedRun {
        ClaimedRun {
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
            asked_parts: None,
            expires_at: None,
            traceparent: None,
            priority: None,
            is_patient: false,
        }
    }

    fn epochs(ring: &mut Ring<ClaimedRun>, until: Millis) -> Vec<i64> {
        let due = ring.drain_due(until).into_iter();
        due.map(|entry| entry.payload.epoch).collect()
    }

    #[test]
    fn what_was_read_under_a_new_epoch_takes_the_place_of_the_old() {
        let mut ring = Ring::new(10);
        insert_newer(&mut ring, waiting(4), 1_200);
        insert_newer(&mut ring, waiting(5), 1_000);
        assert_eq!(epochs(&mut ring, 1_000), [5]);
        assert_eq!(epochs(&mut ring, 9_000), [0; 0]);
    }

    #[test]
    fn an_old_epoch_or_the_same_again_changes_nothing() {
        let mut ring = Ring::new(10);
        insert_newer(&mut ring, waiting(5), 1_200);
        insert_newer(&mut ring, waiting(4), 1_000);
        insert_newer(&mut ring, waiting(5), 1_000);
        assert_eq!(epochs(&mut ring, 1_000), [0; 0], "an entry that waits goes on waiting");
        assert_eq!(epochs(&mut ring, 1_200), [5]);
    }

    // covers: H19
    #[test]
    fn what_the_dispatcher_has_taken_keeps_its_room_until_the_end_of_the_tick() {
        let queue = DueQueue::new(10);
        let run = |run_id| ClaimedRun { run_id, ..waiting(1) };
        (1..=6).for_each(|run_id| queue.insert(run(run_id), 1_000));
        (7..=9).for_each(|run_id| queue.defer(run(run_id), "orders", (1_000, run_id), 2_000));
        let taken = [queue.drain_due(1_000), queue.take_deferred("orders", 2)].concat();
        assert_eq!((taken.len(), queue.len(), queue.free()), (8, 1, 1));
        let of_orders = taken.into_iter().take(5).map(|run| ((1_000, run.run_id), run));
        of_orders.for_each(|(place, run)| queue.defer(run, "orders", place, 3_000));
        queue.finish_tick();
        assert_eq!((queue.len(), queue.free()), (6, 4), "three were sent");
    }

    // covers: 003-14, 002-12
    #[test]
    fn sixty_four_writers_beside_a_reader_lose_nothing_and_no_run_comes_twice() {
        const RUNS: i64 = 3_200;
        let queue = DueQueue::new(RUNS as usize);
        let taken = std::thread::scope(|scope| {
            for writer in 0..64 {
                let queue = &queue;
                scope.spawn(move || {
                    for n in 0..100 {
                        // Each run is offered by two writers, as by two scans of one row.
                        let id = (writer * 100 + n) % RUNS;
                        queue.insert(ClaimedRun { run_id: id, ..waiting(1) }, if id % 2 == 0 { 1_000 } else { 5_000 });
                    }
                });
            }
            let reader = scope.spawn(|| {
                let mut early = vec![];
                while early.len() < 100 {
                    early.extend(queue.drain_due(1_000));
                    queue.finish_tick();
                }
                early
            });
            reader.join().unwrap()
        });
        // What was taken while the second writer had still to come is offered again: the mark in the database refuses it.
        let early: std::collections::HashSet<i64> = taken.iter().map(|run| run.run_id).collect();
        let rest: Vec<i64> = queue.drain_due(9_000).iter().map(|run| run.run_id).collect();
        let left: std::collections::HashSet<i64> = rest.iter().copied().collect();
        assert_eq!(rest.len(), left.len(), "a run is in it once");
        assert_eq!(left.union(&early).count(), RUNS as usize, "none is lost");
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_deferred_run_comes_once() {
        let queue = DueQueue::new(10);
        let run = |run_id| ClaimedRun { run_id, ..waiting(1) };
        (1..=4).for_each(|run_id| queue.defer(run(run_id), "orders", (1_000, run_id), 2_000));
        queue.remove(1);
        let ids = |runs: Vec<ClaimedRun>| runs.into_iter().map(|run| run.run_id).collect::<Vec<_>>();
        assert_eq!(ids(queue.take_deferred("payroll", 9)), [0; 0]);
        assert_eq!(ids(queue.take_deferred("orders", 1)), [2], "the first of those that are there");
        assert_eq!(ids(queue.drain_due(2_000)), [3, 4], "its moment has come");
        assert!(!queue.has_deferred("orders") && queue.len() == 0);
    }
}
