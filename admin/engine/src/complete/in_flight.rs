//! Requests under way in this process, so that a result which overtakes its answer costs no second write, and the resolver does not ask about
//! what will be answered yet.

use std::mem::ManuallyDrop;

use carillon_scheduler::Millis;
use foldhash::HashMap;
use parking_lot::Mutex;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendInFlight {
    pub sent_at: Millis,
    /// Its result is here already.
    pub settled: bool,
}

#[derive(Default)]
pub struct InFlight(Mutex<HashMap<i64, SendInFlight>>);

impl InFlight {
    pub fn begin(&self, run_id: i64, sent_at: Millis) -> RequestGuard<'_> {
        self.0.lock().insert(run_id, SendInFlight { sent_at, settled: false });
        RequestGuard { run_id, in_flight: self }
    }

    pub fn contains(&self, run_id: i64) -> bool {
        self.0.lock().contains_key(&run_id)
    }

    /// A result came first: when its request left.
    pub fn settled(&self, run_id: i64) -> Option<Millis> {
        let mut map = self.0.lock();
        let flight = map.get_mut(&run_id)?;
        flight.settled = true;
        Some(flight.sent_at)
    }
}

/// One request. A guard, so that one which panics leaves no run behind that is never asked about.
pub struct RequestGuard<'a> {
    run_id: i64,
    in_flight: &'a InFlight,
}

impl RequestGuard<'_> {
    pub fn end(self) -> Option<SendInFlight> {
        // Removed here, so not once more by the guard.
        let guard = ManuallyDrop::new(self);
        guard.in_flight.0.lock().remove(&guard.run_id)
    }
}

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        self.in_flight.0.lock().remove(&self.run_id);
    }
}
