//! How the executor of a run was chosen.
//!
//! The route and the set of candidates are two small columns of the mark. Only a run of which there is more to report (an
//! answer to a probe, an executor that was passed over, a request that was not written) has a trace.

use std::sync::Arc;

use carillon_scheduler::RouteStrategy;

use crate::dispatch::route::candidate_set::CandidateSet;
use crate::job_cache::CachedJob;
use carillon_store::run::route::{RouteTrace, TraceNote};

pub struct RouteDecision {
    /// The definition by which it was made, and which its request carries.
    pub job: Arc<CachedJob>,
    /// What the mark writes.
    pub route_code: i16,
    pub set: Arc<CandidateSet>,
    pub trace: Option<Box<RouteTrace>>,
    /// Of a sticky job, and its last run went elsewhere.
    pub moves: bool,
}

impl RouteDecision {
    pub fn trace(&mut self) -> &mut RouteTrace {
        self.trace.get_or_insert_default()
    }

    pub fn strategy(&self) -> Option<RouteStrategy> {
        RouteStrategy::from_code(self.route_code)
    }

    /// The run waits for its first candidate while that one is only busy.
    pub fn has_affinity(&self) -> bool {
        self.strategy().is_some_and(RouteStrategy::has_affinity)
    }

    /// A request to the address was not written.
    pub fn failed_attempt(&mut self, address: &str, what: &str) {
        self.trace().hops.push(note(address, what));
    }

    /// For a run that ends without a mark: its row does not say what its candidates were.
    pub fn into_trace(mut self) -> RouteTrace {
        let mut trace = *self.trace.take().unwrap_or_default();
        trace.route = self.strategy();
        trace.candidates = self.set.addresses().to_vec();
        trace
    }
}

pub fn note(address: &str, what: &str) -> TraceNote {
    TraceNote { address: address.to_owned(), what: what.to_owned() }
}
