//! The protocol of the cluster as a small model, and a checker that walks through every state it can be in.
//!
//! Two nodes, one job with a few instants, two executors. Any node may be paused between any two steps, may lose its
//! shard at any moment (as if the lock lied and every clock were wrong), may crash, and may not learn what became of a
//! commit or of a request. What must hold in every state is in [`invariants`]; that a holder in office can always bring
//! everything to its end is checked over the whole graph.
//!
//! Each rule of the protocol can be taken away ([`Rules`]): the tests show that the checker notices.

pub mod explore;
pub mod invariants;
pub mod rules;
pub mod state;
pub mod steps;
pub mod workflow;

pub use explore::{Model, Report, explore};
pub use rules::{Rules, Scenario};

impl Model for Scenario {
    type State = state::State;
    type Step = steps::Step;
    const CANNOT_END: &'static str = "liveness: a holder is in office and cannot bring everything to its end";

    fn name(&self) -> &'static str {
        self.name
    }

    fn first(&self) -> Self::State {
        state::State::first(self)
    }

    fn next(&self, from: &Self::State) -> Vec<(Self::Step, Self::State)> {
        steps::next(self, from)
    }

    fn is_ordinary(step: Self::Step) -> bool {
        step.is_ordinary()
    }

    fn broken(&self, from: &Self::State, to: &Self::State) -> Option<&'static str> {
        invariants::broken(self, to).or_else(|| invariants::broken_by(from, to))
    }

    fn must_end(&self, state: &Self::State) -> bool {
        invariants::has_a_holder(state)
    }

    fn is_settled(&self, state: &Self::State) -> bool {
        invariants::is_settled(self, state)
    }
}
