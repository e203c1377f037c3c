//! Requests under way in this process, so that a result which overtakes its answer costs no second write, and the resolver does not ask about
//! what will be answered yet.

use std::mem::ManuallyDrop;

use carillon_scheduler::Millis;
use foldhash::HashMap;
use parking_lot::Mutex;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendInFlight {
    pub sent_at: Millis,
    /// When its executor received it, by that one's clock; known with its answer, if at all.
    pub received_at: Option<Millis>,
    /// Its result is here already.
    pub settled: bool,
}

#[derive(Default)]
struct Requests {
    /// With the number of the request.
    runs: HashMap<i64, (u64, SendInFlight)>,
    last: u64,
}

#[derive(Default)]
pub struct InFlight(Mutex<Requests>);

impl InFlight {
    /// A second request for a run takes the place of the first.
    pub fn begin(&self, run_id: i64, sent_at: Millis) -> RequestGuard<'_> {
        let mut requests = self.0.lock();
        requests.last += 1;
        let number = requests.last;
        requests.runs.insert(run_id, (number, SendInFlight { sent_at, received_at: None, settled: false }));
        RequestGuard { run_id, number, in_flight: self }
    }

    pub fn contains(&self, run_id: i64) -> bool {
        self.0.lock().runs.contains_key(&run_id)
    }

    /// A result came first: when its request left.
    pub fn settled(&self, run_id: i64) -> Option<Millis> {
        let mut requests = self.0.lock();
        let (_, flight) = requests.runs.get_mut(&run_id)?;
        flight.settled = true;
        Some(flight.sent_at)
    }
}

/// One request. A guard, so that one which panics leaves no run behind that is never asked about.
pub struct RequestGuard<'a> {
    run_id: i64,
    number: u64,
    in_flight: &'a InFlight,
}

impl RequestGuard<'_> {
    pub fn end(self) -> Option<SendInFlight> {
        // Removed here, so not once more by the guard.
        ManuallyDrop::new(self).remove()
    }

    /// None: a later request for the run has taken its place.
    fn remove(&self) -> Option<SendInFlight> {
        let mut requests = self.in_flight.0.lock();
        let is_own = requests.runs.get(&self.run_id).is_some_and(|(number, _)| *number == self.number);
        if is_own { requests.runs.remove(&self.run_id).map(|(_, flight)| flight) } else { None }
    }
}

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: G19
    #[test]
    fn the_end_of_a_request_leaves_a_later_one_for_the_same_run() {
        let in_flight = InFlight::default();
        let (of_batch, refused) = (in_flight.begin(7, 10), in_flight.begin(8, 10));
        let single = in_flight.begin(7, 20);
        drop(of_batch);
        assert_eq!(refused.end(), Some(SendInFlight { sent_at: 10, received_at: None, settled: false }));
        assert_eq!((in_flight.settled(7), in_flight.contains(8)), (Some(20), false), "its result is recorded");
        assert_eq!(single.end(), Some(SendInFlight { sent_at: 20, received_at: None, settled: true }));
        assert!(!in_flight.contains(7));
        let (first, _second) = (in_flight.begin(7, 30), in_flight.begin(7, 40));
        assert_eq!(first.end(), None);
        assert!(in_flight.contains(7));
    }
}
