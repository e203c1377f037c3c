//! Runs of workflows: two nodes of the cluster that begin them and go on with them.
//!
//! The runs of a workflow's nodes are claimed, marked and sent as all others, which is the subject of the other model: here such a run is
//! open until it ends or is thought lost. A transaction is two steps, its reads with the locks that it takes and its commit, so that others
//! may come between them.

mod derive;
mod invariants;
pub mod rules;
pub mod state;
mod steps;

use crate::Model;
use rules::Workflow;
use state::State;
pub use steps::Step;

impl Model for Workflow {
    type State = State;
    type Step = Step;
    const CANNOT_END: &'static str = "liveness: a node is up and cannot bring the workflow to its end";

    fn name(&self) -> &'static str {
        self.name
    }

    fn first(&self) -> State {
        State::first(self)
    }

    fn next(&self, from: &State) -> Vec<(Step, State)> {
        steps::next(self, from)
    }

    fn is_ordinary(step: Step) -> bool {
        step.is_ordinary()
    }

    fn broken(&self, from: &State, to: &State) -> Option<&'static str> {
        invariants::broken(self, to).or_else(|| invariants::broken_by(self, from, to))
    }

    fn must_end(&self, state: &State) -> bool {
        state.processes.iter().any(|process| process.up)
    }

    fn is_settled(&self, state: &State) -> bool {
        invariants::is_settled(state)
    }
}
