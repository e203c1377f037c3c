//! Timers by key: each key has one, and a renewal moves its time without inserting another.
//!
//! They are in the wheel of tokio's [`DelayQueue`]: six levels of 64 slots, the lowest of 1 ms, so that insertion and removal take as many steps
//! among a million as among a thousand. A renewal to a later time is noted beside the wheel. When the timer comes up before the noted
//! time it is inserted again, for that time: a key that is renewed each second costs an insertion for each of its spans, not for each
//! renewal. Timers are hints. Whether what they stand for is over is decided by its row.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue;

/// The wheel takes times up to 2^36 ms (2.2 years) after the last one that it gave out, or after its start. What is further away is
/// inserted again when this is over.
const FARTHEST: Duration = Duration::from_secs(2 * 365 * 24 * 3600);

/// To be changed and polled within a tokio runtime.
pub struct Timers<K> {
    wheel: DelayQueue<K>,
    /// The last time that the wheel gave out, or its start.
    wheel_time: Instant,
    timers: HashMap<K, Timer>,
    ticks: Ticks,
    insertions: u64,
}

struct Timer {
    entry: delay_queue::Key,
    /// When the wheel gives it back.
    armed: Instant,
    /// When it is due: not before.
    at: Instant,
}

impl<K: Clone + Eq + Hash> Timers<K> {
    /// Times are rounded up to whole ticks (of 1 ms at least), counted from now: what is due within one tick comes with one wake-up.
    pub fn new(tick: Duration) -> Self {
        // Before the wheel's own start, so that a whole tick is not rounded up once more there.
        let ticks = Ticks::new(tick);
        let wheel_time = ticks.start;
        Self { wheel: DelayQueue::new(), wheel_time, timers: HashMap::new(), ticks, insertions: 0 }
    }

    /// Inserts the timer of a key, or renews it: it is due at this time and no other.
    pub fn set(&mut self, key: K, at: Instant) {
        let armed = self.armed(at);
        match self.timers.entry(key) {
            Entry::Occupied(mut known) => {
                let timer = known.get_mut();
                timer.at = at;
                if armed < timer.armed {
                    self.wheel.reset_at(&timer.entry, armed);
                    timer.armed = armed;
                }
            }
            Entry::Vacant(new) => {
                let entry = self.wheel.insert_at(new.key().clone(), armed);
                new.insert(Timer { entry, armed, at });
                self.insertions += 1;
            }
        }
    }

    /// False: the key has no timer.
    pub fn cancel(&mut self, key: &K) -> bool {
        let timer = self.timers.remove(key);
        timer.map(|timer| self.wheel.remove(&timer.entry)).is_some()
    }

    /// The next key that is due, the earliest tick first; its timer is gone. If there is none yet, the caller's task is woken when the
    /// next one may be due. None: there are no timers, and the first one that is set wakes no task.
    pub fn poll_due(&mut self, cx: &mut Context<'_>) -> Poll<Option<K>> {
        while let Some(expired) = ready!(self.wheel.poll_expired(cx)) {
            let key = expired.into_inner();
            let Some(timer) = self.timers.remove(&key) else { continue };
            self.wheel_time = self.wheel_time.max(timer.armed);
            if timer.armed >= timer.at {
                return Poll::Ready(Some(key));
            }
            // It was renewed, or is too far away.
            self.set(key, timer.at);
        }
        Poll::Ready(None)
    }

    /// When the wheel is to give out a timer that is due at a time.
    fn armed(&self, at: Instant) -> Instant {
        self.ticks.end(at.min(self.wheel_time + FARTHEST))
    }

    pub fn len(&self) -> usize {
        self.timers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.timers.is_empty()
    }

    /// How often a timer was put into the wheel so far.
    pub fn insertions(&self) -> u64 {
        self.insertions
    }
}

struct Ticks {
    start: Instant,
    ms: u64,
}

impl Ticks {
    fn new(tick: Duration) -> Self {
        Self { start: Instant::now(), ms: u64::try_from(tick.as_millis()).unwrap_or(u64::MAX).max(1) }
    }

    /// The end of the tick in which a time lies.
    fn end(&self, at: Instant) -> Instant {
        let since = at.saturating_duration_since(self.start);
        let ms = since.as_secs() * 1_000 + u64::from(since.subsec_nanos().div_ceil(1_000_000));
        self.start + Duration::from_millis(ms.div_ceil(self.ms) * self.ms)
    }
}
