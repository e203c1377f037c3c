//! The gates of all executor addresses.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Clock, Millis};
use parking_lot::Mutex;

use crate::executor::address::gate::{AddressGate, FreedApps};
use crate::settings::ms;

/// With at most this number of gates none is removed.
const FEW: usize = 10_000;
/// What is known of an address that is not used and does not answer is kept for this time.
const CLOSED_KEPT: Duration = Duration::from_secs(3600);

/// The gates of all addresses, made when an address is first used. Each app has a gate of its own at an address: an app's
/// token registers any address, and what happens to the requests of one app must not close the address for another.
pub struct AddressPool {
    clock: Arc<dyn Clock>,
    /// Slots of each gate.
    in_flight: usize,
    pub freed: Arc<FreedApps>,
    gates: Mutex<Gates>,
}

#[derive(Default)]
struct Gates {
    /// By app, then by address: a look-up makes no key.
    by_app: HashMap<String, HashMap<String, Arc<AddressGate>>>,
    count: usize,
    /// How many the last sweep has left.
    left: usize,
}

impl Gates {
    fn find(&self, app: &str, address: &str) -> Option<&Arc<AddressGate>> {
        self.by_app.get(app)?.get(address)
    }

    fn add(&mut self, app: &str, address: &str, gate: Arc<AddressGate>) {
        let of_app = self.by_app.entry(app.to_owned()).or_default();
        if of_app.insert(address.to_owned(), gate).is_none() {
            self.count += 1;
        }
    }

    /// Addresses come and go; one that is not in use and not closed carries no knowledge. It sweeps when the gates have doubled since
    /// the last time, so that each new one pays for a few of them.
    fn sweep(&mut self, now: Duration) {
        if self.count < FEW.max(2 * self.left) {
            return;
        }
        let is_closed = |gate: &AddressGate| gate.open_until().is_some_and(|until| now < until + CLOSED_KEPT);
        for of_app in self.by_app.values_mut() {
            of_app.retain(|_, gate| Arc::strong_count(gate) > 1 || is_closed(gate));
        }
        self.by_app.retain(|_, of_app| !of_app.is_empty());
        self.count = self.by_app.values().map(HashMap::len).sum();
        self.left = self.count;
    }
}

impl AddressPool {
    pub fn new(clock: Arc<dyn Clock>, in_flight: usize, freed: FreedApps) -> Self {
        Self { clock, in_flight, freed: Arc::new(freed), gates: Mutex::default() }
    }

    pub fn get(&self, app: &str, address: &str) -> Arc<AddressGate> {
        let mut gates = self.gates.lock();
        if let Some(found) = gates.find(app, address) {
            return found.clone();
        }
        gates.sweep(self.clock.monotonic());
        let gate = Arc::new(AddressGate::new(self.in_flight, app, self.freed.clone()));
        gates.add(app, address, gate.clone());
        gate
    }

    /// Whether the last requests of this node to an executor of an app failed, and no heartbeat has come since it may be tried again.
    pub fn is_unreachable(&self, app: &str, address: &str, seen_at: Millis) -> bool {
        let gate = self.gates.lock().find(app, address).cloned();
        let Some(until) = gate.and_then(|gate| gate.open_until()) else {
            return false;
        };
        let past = ms(self.clock.monotonic().saturating_sub(until));
        self.clock.now() - past >= seen_at
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::ManualClock;

    use super::*;
    use crate::executor::outcome::Outcome;

    const PAUSE: Duration = Duration::from_secs(10);
    const ADDRESS: &str = "http://10.0.0.1:9999/";

    fn pool() -> (AddressPool, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::new(0));
        (AddressPool::new(clock.clone(), 2, FreedApps::default()), clock)
    }

    fn close(pool: &AddressPool, app: &str, address: &str) {
        let not_sent = Outcome::NotSent { why: String::new() };
        assert!(pool.get(app, address).record_outcome(&not_sent, pool.clock.monotonic(), PAUSE));
    }

    // covers: V3
    #[tokio::test]
    async fn what_one_app_meets_at_an_address_changes_nothing_for_another() {
        let (pool, clock) = pool();
        let other = pool.get("payroll", ADDRESS);
        let _first = other.slot(false, false, &*clock).await.unwrap();
        let _second = other.slot(false, false, &*clock).await.unwrap();
        close(&pool, "payroll", ADDRESS);
        let now = clock.monotonic();
        assert!(other.try_reserve(now, 10, (0, 1)).is_err());
        let own = pool.get("orders", ADDRESS);
        assert!(own.try_reserve(now, 10, (0, 1)).is_ok_and(|place| !place.is_probe()) && !own.is_closed(now));
        assert!(own.slot(false, false, &*clock).await.is_ok(), "the slots are its own too");
        assert!(pool.is_unreachable("payroll", ADDRESS, 0) && !pool.is_unreachable("orders", ADDRESS, 0));
    }

    #[test]
    fn gates_that_are_not_in_use_are_forgotten() {
        let (pool, clock) = pool();
        let used = pool.get("orders", ADDRESS);
        close(&pool, "orders", "http://closed/");
        for number in 0..3 * FEW {
            pool.get("payroll", &format!("http://{number}/"));
        }
        let count = |pool: &AddressPool| pool.gates.lock().by_app.values().map(HashMap::len).sum::<usize>();
        assert!(count(&pool) <= FEW + 2, "{}", count(&pool));
        assert!(Arc::ptr_eq(&used, &pool.get("orders", ADDRESS)));
        assert!(pool.is_unreachable("orders", "http://closed/", 0));
        clock.advance(PAUSE + CLOSED_KEPT);
        for number in 0..FEW {
            pool.get("payroll", &format!("http://{number}/"));
        }
        assert!(!pool.is_unreachable("orders", "http://closed/", 0), "it was closed long ago");
    }
}
