//! How many requests may be under way at one address: all its slots, or fewer while more of them only make it slower.
//!
//! An answer is slow if it took several times as long as answers take while few requests are under way. So an executor that serves one
//! request after the other has few waiting inside it, and one that is slow with a single request too keeps its slots. The limit falls by a
//! quarter with a slow answer and by half with none, once for each generation of requests; it rises by one slot for as many answers as there are slots
//! (additive increase, multiplicative decrease). It stays between 1 and the configured number.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// An answer within this time is never slow.
const QUICK: Duration = Duration::from_millis(200);
/// A slow answer took this many times the usual latency.
const SLOW_TIMES: u32 = 3;
/// The usual latency is the least one of this number of answers to requests that began while less than [`FEW`] of the slots were taken.
const REMEMBERED: usize = 16;
/// One slot of this number.
const FEW: usize = 4;
const AFTER_SLOW: f64 = 0.75;
const AFTER_NONE: f64 = 0.5;

pub struct SlotLimit {
    slots: Arc<Semaphore>,
    most: usize,
    under_way: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    /// From 1 to `most`; its whole part counts.
    limit: f64,
    /// Slots that are taken away as soon as they come free.
    owed: usize,
    /// The limit fell at this moment: a request that began before says nothing about the limit of now.
    lowered_at: Duration,
    /// Latencies with few requests under way, the newest last.
    latencies: VecDeque<Duration>,
}

/// The place of one request; ends when it is dropped.
pub struct Slot {
    permit: Option<OwnedSemaphorePermit>,
    limit: Arc<SlotLimit>,
    /// When it was given, on the monotonic clock.
    began: Duration,
    /// Few other requests were under way.
    is_among_few: bool,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    Yes,
    /// None came in time, or none of the protocol.
    No,
}

impl SlotLimit {
    pub fn new(most: usize) -> Self {
        let latencies = VecDeque::with_capacity(REMEMBERED);
        let state = State { limit: most as f64, owed: 0, lowered_at: Duration::ZERO, latencies };
        let slots = Arc::new(Semaphore::new(most));
        Self { slots, most, under_way: AtomicUsize::new(0), state: Mutex::new(state) }
    }

    pub fn permits(&self) -> Arc<Semaphore> {
        self.slots.clone()
    }

    /// No request may begin now.
    pub fn is_exhausted(&self) -> bool {
        self.slots.available_permits() == 0
    }

    /// Learns from a request that has ended.
    pub fn learn(&self, slot: &Slot, answered: Answered, now: Duration) {
        let mut state = self.state.lock();
        let took = now.saturating_sub(slot.began);
        let is_slow = answered == Answered::No || state.is_slow(took, slot.is_among_few);
        if !is_slow {
            self.raise(&mut state);
        } else if slot.began >= state.lowered_at {
            let share = if answered == Answered::Yes { AFTER_SLOW } else { AFTER_NONE };
            self.lower(&mut state, share);
            state.lowered_at = now;
        }
    }

    fn raise(&self, state: &mut State) {
        let before = state.limit as usize;
        state.limit = (state.limit + 1.0 / state.limit).min(self.most as f64);
        for _ in before..state.limit as usize {
            match state.owed.checked_sub(1) {
                Some(left) => state.owed = left,
                None => self.slots.add_permits(1),
            }
        }
    }

    fn lower(&self, state: &mut State, share: f64) {
        let before = state.limit as usize;
        state.limit = (state.limit * share).max(1.0);
        let less = before - state.limit as usize;
        state.owed += less - self.slots.forget_permits(less);
    }

    /// Whether a slot that comes free is not given again.
    fn takes_away(&self) -> bool {
        let mut state = self.state.lock();
        let is_owed = state.owed > 0;
        state.owed = state.owed.saturating_sub(1);
        is_owed
    }
}

impl State {
    fn is_slow(&mut self, took: Duration, is_among_few: bool) -> bool {
        if is_among_few {
            if self.latencies.len() == REMEMBERED {
                self.latencies.pop_front();
            }
            self.latencies.push_back(took);
        }
        let usual = self.latencies.iter().min();
        usual.is_some_and(|usual| took > QUICK.max(*usual * SLOW_TIMES))
    }
}

impl Slot {
    pub fn new(permit: OwnedSemaphorePermit, limit: Arc<SlotLimit>, began: Duration) -> Self {
        let others = limit.under_way.fetch_add(1, Ordering::Relaxed);
        let is_among_few = others * FEW < limit.most;
        Self { permit: Some(permit), limit, began, is_among_few }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.limit.under_way.fetch_sub(1, Ordering::Relaxed);
        if self.limit.takes_away()
            && let Some(permit) = self.permit.take()
        {
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 32;

    /// An executor in simulated time, which always has more to do than it may begin.
    struct Busy {
        limit: Arc<SlotLimit>,
        now: Duration,
    }

    impl Busy {
        fn new() -> Self {
            Self { limit: Arc::new(SlotLimit::new(MOST)), now: Duration::ZERO }
        }

        /// As many requests as may begin.
        fn begin(&self) -> Vec<Slot> {
            let permits = std::iter::from_fn(|| self.limit.permits().try_acquire_owned().ok());
            permits.map(|permit| Slot::new(permit, self.limit.clone(), self.now)).collect()
        }

        /// Requests that begin together; the one of each number takes as long as `latency` says. Answers how many they were.
        fn generation(&mut self, answered: Answered, latency: impl Fn(usize) -> Duration) -> usize {
            let (slots, began) = (self.begin(), self.now);
            let count = slots.len();
            for (number, slot) in slots.iter().enumerate() {
                self.now = began + latency(number);
                self.limit.learn(slot, answered, self.now);
            }
            count
        }

        fn generations(&mut self, count: usize, latency: impl Fn(usize) -> Duration) -> Vec<usize> {
            (0..count).map(|_| self.generation(Answered::Yes, &latency)).collect()
        }
    }

    fn ms(ms: usize) -> Duration {
        Duration::from_millis(ms as u64)
    }

    /// At once, also if they are many.
    fn quick(_: usize) -> Duration {
        ms(20)
    }

    /// Each waits for those before it.
    fn one_after_the_other(number: usize) -> Duration {
        ms(100 * (number + 1))
    }

    // covers: 001-37
    #[test]
    fn an_executor_that_becomes_slow_gets_fewer_requests_at_once_and_regains_them() {
        let mut busy = Busy::new();
        assert_eq!(busy.generations(50, quick), [MOST; 50], "all slots while it is quick");
        let slow = busy.generations(40, one_after_the_other);
        assert_eq!(slow[..4], [32, 24, 18, 13], "a quarter less with each generation");
        assert!(slow[12..].iter().all(|count| (2..=4).contains(count)), "as many as it answers in time: {slow:?}");
        let mut again = vec![*slow.last().unwrap()];
        while again.last() != Some(&MOST) {
            assert!(again.len() < 100, "{again:?}");
            again.push(busy.generation(Answered::Yes, quick));
        }
        assert!(
            again.windows(2).all(|pair| pair[1] >= pair[0] && pair[1] <= pair[0] + 2),
            "one more at a time: {again:?}"
        );
    }

    // covers: 001-37
    #[test]
    fn an_executor_that_is_slow_whatever_it_has_to_do_keeps_its_slots() {
        let mut busy = Busy::new();
        assert_eq!(busy.generations(50, |_| ms(800)), [MOST; 50]);
        // One that is slow from now on has fewer until this is what it usually takes.
        let mut busy = Busy::new();
        busy.generations(50, quick);
        let counts = busy.generations(60, |_| ms(1_000));
        assert!(counts.iter().all(|count| *count >= MOST / FEW), "{counts:?}");
        assert!(counts[1] < MOST && counts.last() == Some(&MOST), "{counts:?}");
    }

    // covers: 001-37
    #[test]
    fn the_limit_stays_between_one_and_the_configured_number() {
        let mut busy = Busy::new();
        for _ in 0..40 {
            let count = busy.generation(Answered::No, |_| ms(3_000));
            assert!((1..=MOST).contains(&count));
        }
        assert_eq!(busy.begin().len(), 1);
        let counts = busy.generations(1_000, |_| ms(1));
        assert_eq!((counts.iter().max(), counts.last()), (Some(&MOST), Some(&MOST)));
        let single = Arc::new(SlotLimit::new(1));
        let slot = Slot::new(single.permits().try_acquire_owned().unwrap(), single.clone(), Duration::ZERO);
        single.learn(&slot, Answered::No, ms(3_000));
        drop(slot);
        assert!(!single.is_exhausted());
    }

    #[test]
    fn slots_that_are_in_use_when_the_limit_falls_are_taken_away_as_they_come_free() {
        let mut busy = Busy::new();
        let mut slots = busy.begin();
        assert!(slots.len() == MOST && busy.limit.is_exhausted());
        busy.now += ms(3_000);
        busy.limit.learn(&slots[0], Answered::No, busy.now);
        slots.truncate(MOST / 2);
        assert!(busy.limit.is_exhausted(), "as many are under way as may be");
        // A request of the same generation lowers nothing more.
        busy.limit.learn(&slots[0], Answered::No, busy.now);
        slots.pop();
        assert!(!busy.limit.is_exhausted());
        slots.clear();
        assert_eq!(busy.begin().len(), MOST / 2);
    }
}
