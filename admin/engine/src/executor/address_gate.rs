//! Limits and breaker of each executor address. There is no total limit that one address could fill.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use carillon_scheduler::{Clock, Millis};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::Pipeline;
use crate::dispatch::probe::Answer;
use crate::executor::outcome::Outcome;
use crate::settings::{Settings, ms};

/// After so many time-outs in a row the address is left alone for a while.
const TIMEOUTS_IN_A_ROW: u32 = 3;
/// An address whose slots are all taken, and where none has come free for so long, is stalled: long before the first
/// time-out tells that it hangs, runs that may go elsewhere do.
const STALLED_AFTER: Duration = Duration::from_millis(200);

/// Questions whether it is idle that an address is asked at once.
const IDLE_BEATS: usize = 8;

pub struct Address {
    slots: Arc<Semaphore>,
    /// Marked runs that wait here, for their second or for a slot.
    waiting: AtomicUsize,
    /// When a slot was last given or a request last ended: ms on the monotonic clock.
    moved_at: AtomicU64,
    breaker: Mutex<Breaker>,
    /// What it last said to `/beat`, and when; locked while it is asked.
    pub last_beat: tokio::sync::Mutex<Option<(Duration, Answer)>>,
    /// Limits how many ask it `/idleBeat` at once.
    pub idle_beats: Semaphore,
    /// Wakes those that wait for a slot when the breaker opens: they go elsewhere.
    opened: Notify,
}

#[derive(Debug, Default)]
struct Breaker {
    timeouts: u32,
    /// On the monotonic clock.
    open_until: Option<Duration>,
    /// One run has been let through to see whether the address is back.
    probing: bool,
}

/// Why an address cannot be chosen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    Saturated,
    Broken,
}

/// Why a run that waited at an address did not get a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The breaker opened meanwhile.
    Closed,
    /// Nothing moves there, and the run may go elsewhere.
    Stalled,
}

/// A run counted as waiting at an address; ends when it is dropped.
pub struct Place {
    address: Arc<Address>,
    /// It is the one that is let through a closed address.
    pub probe: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.address.waiting.fetch_sub(1, Ordering::Relaxed);
        if self.probe {
            // Whatever it learned is noted already; if it was never sent, the next run may try.
            self.address.breaker().probing = false;
        }
    }
}

impl Address {
    fn new(in_flight: usize) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(in_flight)),
            waiting: AtomicUsize::new(0),
            moved_at: AtomicU64::new(0),
            breaker: Mutex::default(),
            last_beat: tokio::sync::Mutex::default(),
            idle_beats: Semaphore::new(IDLE_BEATS),
            opened: Notify::new(),
        }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Chooses the address for one run, if it has room. After the breaker's pause exactly one run gets in to probe it.
    pub fn enter(self: &Arc<Self>, now: Duration, limit: usize) -> Result<Place, NoRoom> {
        let mut breaker = self.breaker();
        if let Some(until) = breaker.open_until
            && (now < until || breaker.probing)
        {
            return Err(NoRoom::Broken);
        }
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= limit {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(NoRoom::Saturated);
        }
        let probe = breaker.open_until.is_some();
        breaker.probing = probe;
        Ok(Place { address: self.clone(), probe })
    }

    /// It has not answered lately, and is left alone for now.
    pub fn is_closed(&self, now: Duration) -> bool {
        self.breaker().open_until.is_some_and(|until| now < until)
    }

    /// Until when it is left alone, if the last request failed.
    fn failed_until(&self) -> Option<Duration> {
        self.breaker().open_until
    }

    /// A slot for one request. Who may leave for another address does not wait where nothing moves.
    pub async fn slot(&self, probe: bool, may_leave: bool, clock: &dyn Clock) -> Result<OwnedSemaphorePermit, Left> {
        let mut permit = std::pin::pin!(self.slots.clone().acquire_owned());
        loop {
            let opened = self.opened.notified();
            if self.turns_away(probe) {
                return Err(Left::Closed);
            }
            if may_leave && !probe && self.is_stalled(clock.monotonic()) {
                return Err(Left::Stalled);
            }
            tokio::select! {
                biased;
                permit = &mut permit => {
                    // Requests that time out together free their slots together: the address may have closed meanwhile.
                    if self.turns_away(probe) {
                        return Err(Left::Closed);
                    }
                    self.moved(clock.monotonic());
                    return permit.map_err(|_| Left::Closed);
                }
                () = opened => {}
                () = tokio::time::sleep(STALLED_AFTER), if may_leave => {}
            }
        }
    }

    /// All its slots are taken, and nothing has moved for a while.
    pub fn is_stalled(&self, now: Duration) -> bool {
        let still = || now.saturating_sub(Duration::from_millis(self.moved_at.load(Ordering::Relaxed)));
        self.slots.available_permits() == 0 && still() >= STALLED_AFTER
    }

    fn moved(&self, now: Duration) {
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        self.moved_at.store(now, Ordering::Relaxed);
    }

    fn turns_away(&self, probe: bool) -> bool {
        !probe && self.breaker().open_until.is_some()
    }

    /// Learns from a request. Answers true if the address has just been closed.
    pub fn note(&self, outcome: &Outcome, now: Duration, pause: Duration) -> bool {
        self.moved(now);
        let mut breaker = self.breaker();
        let failed = match outcome {
            Outcome::NotSent { .. } => true,
            Outcome::Unknown { timed_out: true, .. } => {
                breaker.timeouts += 1;
                breaker.probing || breaker.timeouts >= TIMEOUTS_IN_A_ROW
            }
            _ => {
                *breaker = Breaker::default();
                false
            }
        };
        if failed {
            *breaker = Breaker { timeouts: 0, open_until: Some(now + pause), probing: false };
            drop(breaker);
            self.opened.notify_waiters();
        }
        failed
    }
}

impl Pipeline {
    /// Whether the last requests of this node to an address failed, and no heartbeat has come since it may be tried again.
    pub fn is_unreachable(&self, address: &str, seen_at: Millis) -> bool {
        let Some(until) = self.addresses.get(address).failed_until() else {
            return false;
        };
        let past = ms(self.clock.monotonic().saturating_sub(until));
        self.clock.now() - past >= seen_at
    }
}

pub struct Addresses {
    in_flight: usize,
    by_name: Mutex<HashMap<String, Arc<Address>>>,
}

impl Addresses {
    pub fn new(settings: &Settings) -> Self {
        Self { in_flight: settings.in_flight, by_name: Mutex::default() }
    }

    pub fn get(&self, address: &str) -> Arc<Address> {
        let mut map = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = map.get(address) {
            return found.clone();
        }
        if map.len() > 10_000 {
            // Addresses come and go; what nobody uses and what is not broken carries no knowledge.
            map.retain(|_, kept| Arc::strong_count(kept) > 1 || kept.breaker().open_until.is_some());
        }
        map.entry(address.to_owned()).or_insert_with(|| Arc::new(Address::new(self.in_flight))).clone()
    }
}

#[cfg(test)]
#[path = "address_gate_tests.rs"]
mod tests;
