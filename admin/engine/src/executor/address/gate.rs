//! Limits and breaker of one executor address. There is no total limit that one address could fill.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use carillon_scheduler::{Clock, Place};
use foldhash::HashSet;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};

use crate::executor::address::slot_limit::{Answered, Slot, SlotLimit};
use crate::executor::address::trial_line::TrialLine;
use crate::executor::outcome::Outcome;

/// After this many requests in a row without an answer of the protocol (none in time, the connection closed, an error of a proxy) the
/// address is left alone for a while.
const UNANSWERED_IN_A_ROW: u32 = 3;
/// An address whose slots are all taken, and where none has come free for this time, is stalled: runs that may go elsewhere do,
/// long before the first time-out shows that it hangs.
pub const STALLED_AFTER: Duration = Duration::from_millis(200);

/// Questions whether it is idle that an address is asked at once.
const IDLE_BEATS: usize = 8;

/// Apps of which an executor has room again, after runs of them found none. By name, as the gates of their executors know them.
#[derive(Default)]
pub struct FreedApps {
    apps: Mutex<HashSet<String>>,
    /// Wakes the dispatcher.
    wake: Arc<Notify>,
}

impl FreedApps {
    pub fn new(wake: Arc<Notify>) -> Self {
        Self { apps: Mutex::default(), wake }
    }

    pub fn add(&self, app: &str) {
        let is_new = self.apps.lock().insert(app.to_owned());
        if is_new {
            self.wake.notify_one();
        }
    }

    pub fn take(&self) -> HashSet<String> {
        std::mem::take(&mut *self.apps.lock())
    }
}

pub struct AddressGate {
    app: String,
    freed: Arc<FreedApps>,
    slots: Arc<SlotLimit>,
    /// Marked runs that wait here, for their second or for a slot.
    waiting: AtomicUsize,
    /// The limit at which a run was last turned away; 0: none was since room was announced.
    denied_at: AtomicUsize,
    /// When a slot was last given or a request last ended: ms on the monotonic clock.
    last_progress: AtomicU64,
    breaker: Mutex<Breaker>,
    /// What it last answered to `/beat`, and when; locked while it is asked.
    pub last_beat: tokio::sync::Mutex<Option<(Duration, ProbeAnswer)>>,
    /// Limits how many ask it `/idleBeat` at once.
    pub idle_beats: Semaphore,
    /// Wakes those that wait for a slot when the breaker opens: they go elsewhere.
    opened: Notify,
}

#[derive(Debug, Default)]
struct Breaker {
    unanswered: u32,
    /// On the monotonic clock.
    open_until: Option<Duration>,
    /// One run has been let through to see whether the address is back; when the next one is, if that one says nothing for long.
    probing_until: Option<Duration>,
    /// For how long it is left alone after a failure.
    pause: Duration,
    /// Why it was opened; empty: it was not.
    why: String,
    /// Who is let through first.
    line: TrialLine,
}

impl Breaker {
    fn may_pass(&mut self, now: Duration, place: Place) -> Result<(), SlotDenied> {
        let Some(until) = self.open_until else { return Ok(()) };
        if now < until || self.probing_until.is_some_and(|until| now < until) {
            return Err(SlotDenied::Broken);
        }
        match self.line.first(now) {
            Some(first) if first < place => Err(SlotDenied::Behind),
            _ => Ok(()),
        }
    }
}

/// Why an address cannot be chosen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotDenied {
    Saturated,
    Broken,
    /// It may be tried again, and a run that has waited longer is to do that.
    Behind,
}

/// Why a run that waited at an address got no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitAborted {
    /// The breaker opened meanwhile.
    Closed,
    /// Nothing moves there, and the run may go elsewhere.
    Stalled,
}

/// What an executor answered to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeAnswer {
    Yes,
    /// Not alive, as it says itself; or busy.
    No(String),
    /// It was asked, and no answer came.
    NoReply(String),
    /// It was not asked: it has not answered lately.
    NotAsked,
}

/// A place of a run among those that wait at an address; ends when it is dropped.
pub struct Reservation {
    address: Arc<AddressGate>,
    /// It is the one that is let through a closed address; when the next one is.
    probing_until: Option<Duration>,
}

impl Reservation {
    pub fn is_probe(&self) -> bool {
        self.probing_until.is_some()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.address.waiting.fetch_sub(1, Ordering::Relaxed);
        if self.is_probe() {
            let mut breaker = self.address.breaker.lock();
            // What it learned is recorded already. If that is nothing, any run may be the next: such runs would stand first again and again.
            if breaker.probing_until == self.probing_until {
                breaker.probing_until = None;
                breaker.line = TrialLine::default();
            }
        }
    }
}

impl AddressGate {
    pub(in crate::executor) fn new(in_flight: usize, app: &str, freed: Arc<FreedApps>) -> Self {
        Self {
            app: app.to_owned(),
            freed,
            slots: Arc::new(SlotLimit::new(in_flight)),
            waiting: AtomicUsize::new(0),
            denied_at: AtomicUsize::new(0),
            last_progress: AtomicU64::new(0),
            breaker: Mutex::default(),
            last_beat: tokio::sync::Mutex::default(),
            idle_beats: Semaphore::new(IDLE_BEATS),
            opened: Notify::new(),
        }
    }

    /// Until when it is left alone, which may be in the past; None: it has answered since, or never failed.
    pub(super) fn open_until(&self) -> Option<Duration> {
        self.breaker.lock().open_until
    }

    /// Chooses the address for one run, if it has room. After the breaker's pause exactly one run gets in to probe it: the first of
    /// those that wait for it.
    pub fn try_reserve(self: &Arc<Self>, now: Duration, limit: usize, place: Place) -> Result<Reservation, SlotDenied> {
        let mut breaker = self.breaker.lock();
        if let Err(denied) = breaker.may_pass(now, place) {
            self.denied_at.store(limit, Ordering::Relaxed);
            return Err(denied);
        }
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= limit {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.denied_at.store(limit, Ordering::Relaxed);
            return Err(SlotDenied::Saturated);
        }
        let probing_until = breaker.open_until.map(|_| now + breaker.pause);
        if probing_until.is_some() {
            breaker.line.leave(place);
            breaker.probing_until = probing_until;
        }
        Ok(Reservation { address: self.clone(), probing_until })
    }

    /// A run that was turned away waits, and has nowhere else to go: while the address is closed, none behind it is let through first.
    pub fn wait_in_line(&self, place: Place, now: Duration) {
        let mut breaker = self.breaker.lock();
        if breaker.open_until.is_some() {
            breaker.line.keep(place, now);
        }
    }

    /// The run waits no longer.
    pub fn leave_line(&self, place: Place) {
        self.breaker.lock().line.leave(place);
    }

    /// Runs that were turned away look again when half of the places are free: a look costs more than a place. An answer brings
    /// them, not a place that a run left without one: where nothing moves, the next run would leave it as fast.
    fn announce_room(&self) {
        let denied_at = self.denied_at.load(Ordering::Relaxed);
        let has_room = self.waiting.load(Ordering::Relaxed) <= denied_at / 2;
        if denied_at > 0 && has_room && self.denied_at.swap(0, Ordering::Relaxed) > 0 {
            self.freed.add(&self.app);
        }
    }

    /// Why it was last left alone; empty: it has answered since.
    pub fn last_fault(&self) -> String {
        self.breaker.lock().why.clone()
    }

    /// It has not answered lately, and is left alone for now.
    pub fn is_closed(&self, now: Duration) -> bool {
        self.breaker.lock().open_until.is_some_and(|until| now < until)
    }

    /// A slot for one request. A run that may leave for another address does not wait where nothing moves.
    pub async fn slot(&self, probe: bool, may_leave: bool, clock: &dyn Clock) -> Result<Slot, WaitAborted> {
        let mut permit = std::pin::pin!(self.slots.permits().acquire_owned());
        loop {
            let opened = self.opened.notified();
            if self.rejects(probe) {
                return Err(WaitAborted::Closed);
            }
            if may_leave && !probe && self.is_stalled(clock.monotonic()) {
                return Err(WaitAborted::Stalled);
            }
            tokio::select! {
                biased;
                permit = &mut permit => {
                    // Requests that time out together free their slots together: the address may have closed meanwhile.
                    if self.rejects(probe) {
                        return Err(WaitAborted::Closed);
                    }
                    let now = clock.monotonic();
                    self.touch(now);
                    let slot = |permit| Slot::new(permit, self.slots.clone(), now);
                    return permit.map(slot).map_err(|_| WaitAborted::Closed);
                }
                () = opened => {}
                () = tokio::time::sleep(STALLED_AFTER), if may_leave => {}
            }
        }
    }

    /// All its slots are taken, and nothing has moved for a while.
    pub fn is_stalled(&self, now: Duration) -> bool {
        let still = || now.saturating_sub(Duration::from_millis(self.last_progress.load(Ordering::Relaxed)));
        self.slots.is_exhausted() && still() >= STALLED_AFTER
    }

    fn touch(&self, now: Duration) {
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        self.last_progress.store(now, Ordering::Relaxed);
    }

    fn rejects(&self, probe: bool) -> bool {
        !probe && self.breaker.lock().open_until.is_some()
    }

    /// Learns from the time that a request to an executor took, of which none takes long by nature.
    pub fn record_latency(&self, slot: &Slot, outcome: &Outcome, now: Duration) {
        match outcome {
            Outcome::Accepted | Outcome::Refused { .. } => self.slots.learn(slot, Answered::Yes, now),
            Outcome::Unknown { .. } => self.slots.learn(slot, Answered::No, now),
            Outcome::NotSent { .. } | Outcome::Withheld { .. } => {}
        }
    }

    /// Learns from a request. Answers true if the address has just been closed.
    pub fn record_outcome(&self, outcome: &Outcome, now: Duration, pause: Duration) -> bool {
        if matches!(outcome, Outcome::Withheld { .. }) {
            return false;
        }
        self.touch(now);
        let mut breaker = self.breaker.lock();
        let failed = match outcome {
            Outcome::NotSent { why } => Some(why),
            Outcome::Unknown { why } => {
                breaker.unanswered += 1;
                (breaker.probing_until.is_some() || breaker.unanswered >= UNANSWERED_IN_A_ROW).then_some(why)
            }
            _ => {
                *breaker = Breaker::default();
                self.announce_room();
                None
            }
        };
        let Some(why) = failed else { return false };
        let mut line = std::mem::take(&mut breaker.line);
        line.drop_gone(now);
        *breaker = Breaker { open_until: Some(now + pause), pause, why: why.clone(), line, ..Breaker::default() };
        drop(breaker);
        self.opened.notify_waiters();
        true
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
