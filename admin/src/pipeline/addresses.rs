//! Limits and breaker of each executor address. There is no total limit that one address could fill.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::settings::Settings;
use crate::executor::Outcome;

/// After so many time-outs in a row the address is left alone for a while.
const TIMEOUTS_IN_A_ROW: u32 = 3;

pub struct Address {
    slots: Arc<Semaphore>,
    /// Marked runs that wait here, for their second or for a slot.
    waiting: AtomicUsize,
    breaker: Mutex<Breaker>,
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
            breaker: Mutex::default(),
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
        Ok(Place {
            address: self.clone(),
            probe,
        })
    }

    /// A slot for one request; None when the breaker opened meanwhile.
    pub async fn slot(&self, probe: bool) -> Option<OwnedSemaphorePermit> {
        loop {
            let opened = self.opened.notified();
            if self.turns_away(probe) {
                return None;
            }
            tokio::select! {
                biased;
                permit = self.slots.clone().acquire_owned() => {
                    // Requests that time out together free their slots together: the address may have closed meanwhile.
                    return permit.ok().filter(|_| !self.turns_away(probe));
                }
                () = opened => {}
            }
        }
    }

    fn turns_away(&self, probe: bool) -> bool {
        !probe && self.breaker().open_until.is_some()
    }

    /// Learns from a request. Answers true if the address has just been closed.
    pub fn note(&self, outcome: &Outcome, now: Duration, pause: Duration) -> bool {
        let mut breaker = self.breaker();
        let failed = match outcome {
            Outcome::NotSent { .. } => true,
            Outcome::Unknown {
                timed_out: true, ..
            } => {
                breaker.timeouts += 1;
                breaker.probing || breaker.timeouts >= TIMEOUTS_IN_A_ROW
            }
            _ => {
                *breaker = Breaker::default();
                false
            }
        };
        if failed {
            *breaker = Breaker {
                timeouts: 0,
                open_until: Some(now + pause),
                probing: false,
            };
            drop(breaker);
            self.opened.notify_waiters();
        }
        failed
    }
}

pub struct Addresses {
    in_flight: usize,
    by_name: Mutex<HashMap<String, Arc<Address>>>,
}

impl Addresses {
    pub fn new(settings: &Settings) -> Self {
        Self {
            in_flight: settings.in_flight,
            by_name: Mutex::default(),
        }
    }

    pub fn get(&self, address: &str) -> Arc<Address> {
        let mut map = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = map.get(address) {
            return found.clone();
        }
        if map.len() > 10_000 {
            // Addresses come and go; what nobody uses and what is not broken carries no knowledge.
            map.retain(|_, kept| {
                Arc::strong_count(kept) > 1 || kept.breaker().open_until.is_some()
            });
        }
        map.entry(address.to_owned())
            .or_insert_with(|| Arc::new(Address::new(self.in_flight)))
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(10);

    fn second(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn timed_out() -> Outcome {
        Outcome::Unknown {
            why: String::new(),
            timed_out: true,
        }
    }

    #[test]
    fn three_time_outs_in_a_row_close_an_address_and_one_run_probes_it() {
        let address = Arc::new(Address::new(2));
        assert!(!address.note(&timed_out(), second(1), PAUSE));
        assert!(!address.note(&timed_out(), second(1), PAUSE));
        assert!(
            !address.note(&Outcome::Accepted, second(1), PAUSE),
            "an answer starts the count anew"
        );
        assert_eq!(
            [1, 2, 3].map(|_| address.note(&timed_out(), second(2), PAUSE)),
            [false, false, true]
        );
        assert!(matches!(address.enter(second(11), 10), Err(NoRoom::Broken)));
        let probe = address
            .enter(second(12), 10)
            .unwrap_or_else(|_| panic!("one probe"));
        assert!(probe.probe);
        assert!(
            matches!(address.enter(second(12), 10), Err(NoRoom::Broken)),
            "only one"
        );
        assert!(
            address.note(&timed_out(), second(15), PAUSE),
            "a probe that fails closes it at once"
        );
        drop(probe);
        assert!(matches!(address.enter(second(24), 10), Err(NoRoom::Broken)));
        drop(address.enter(second(25), 10));
        let _probe = address
            .enter(second(25), 10)
            .unwrap_or_else(|_| panic!("a probe that was never sent blocks nobody"));
        assert!(!address.note(&Outcome::Accepted, second(25), PAUSE));
        assert!(
            address
                .enter(second(25), 10)
                .is_ok_and(|place| !place.probe)
        );
    }

    #[test]
    fn m002_29_what_is_over_the_limit_is_told_saturated() {
        let address = Arc::new(Address::new(1));
        let first = address.enter(second(0), 2);
        let second_place = address.enter(second(0), 2);
        assert!(first.is_ok() && second_place.is_ok());
        assert!(matches!(
            address.enter(second(0), 2),
            Err(NoRoom::Saturated)
        ));
        drop(first);
        assert!(address.enter(second(0), 2).is_ok());
    }

    #[tokio::test]
    async fn those_that_wait_leave_when_the_address_closes() {
        let address = Arc::new(Address::new(1));
        let held = address.slot(false).await;
        let waiter = tokio::spawn({
            let address = address.clone();
            async move { address.slot(false).await.is_none() }
        });
        tokio::task::yield_now().await;
        address.note(&Outcome::NotSent { why: String::new() }, second(1), PAUSE);
        assert!(waiter.await.unwrap(), "it goes elsewhere");
        drop(held);
    }

    #[tokio::test]
    async fn a_slot_that_is_freed_while_the_address_closes_is_given_to_nobody() {
        let address = Arc::new(Address::new(1));
        let held = address.slot(false).await;
        let mut waiting = std::pin::pin!(address.slot(false));
        assert!(futures_util::poll!(waiting.as_mut()).is_pending());
        address.note(&Outcome::NotSent { why: String::new() }, second(1), PAUSE);
        drop(held);
        assert!(waiting.await.is_none(), "it goes elsewhere");
        assert!(address.slot(true).await.is_some(), "the probe gets it");
    }
}
