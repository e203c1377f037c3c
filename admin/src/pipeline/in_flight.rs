//! Requests under way in this process, so that a result which overtakes its answer costs no second write.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use carillon_scheduler::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    pub sent_at: Millis,
    /// Its result is here already.
    pub settled: bool,
}

#[derive(Default)]
pub struct InFlight(Mutex<HashMap<i64, Flight>>);

impl InFlight {
    fn map(&self) -> MutexGuard<'_, HashMap<i64, Flight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(&self, run_id: i64, sent_at: Millis) {
        self.map().insert(
            run_id,
            Flight {
                sent_at,
                settled: false,
            },
        );
    }

    pub fn end(&self, run_id: i64) -> Option<Flight> {
        self.map().remove(&run_id)
    }

    /// A result came first: when its request left.
    pub fn settled(&self, run_id: i64) -> Option<Millis> {
        let mut map = self.map();
        let flight = map.get_mut(&run_id)?;
        flight.settled = true;
        Some(flight.sent_at)
    }
}
