//! Everything that can happen next.

mod advance;
mod executor;
mod holder;
mod operator;
mod resolver;
mod send;

use crate::rules::Scenario;
use crate::state::{NODES, State};

/// What happened, for the trace of a violation. Nodes, shards and executors are counted from 0; `run` is its place
/// among [`crate::state::RUNS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Tick,
    Take { node: usize, shard: usize },
    Adopt { node: usize, shard: usize },
    Fenced { node: usize, shard: usize },
    Plan { node: usize },
    Claim { node: usize },
    ClaimUnknown { node: usize },
    Mark { node: usize, run: usize, to: usize },
    MarkUnknown { node: usize, run: usize, to: usize },
    Reread { node: usize, run: usize },
    Send { node: usize, run: usize, to: usize },
    SendUnmarked { node: usize, run: usize, to: usize },
    NotWritten { node: usize, run: usize },
    Deliver { run: usize, to: usize, answered: bool },
    Lose { run: usize, to: usize },
    Callback { node: usize, run: usize, answered: bool },
    WriteHeld { node: usize, run: usize },
    SendAgain { node: usize, run: usize, to: usize },
    Witness { node: usize, run: usize },
    Unresolved { node: usize, run: usize },
    Dropped { node: usize, run: usize },
    LookAtEnd { node: usize, run: usize },
    Advance { node: usize, run: usize },
    AdvanceUnknown { node: usize, run: usize },
    Edit,
    Disable,
    Reshard,
    Stop { node: usize },
    Exit { node: usize },
    Crash { node: usize },
    Restart { node: usize },
}

impl Step {
    /// Whether the step also happens when nothing breaks and no operator intervenes.
    pub fn is_ordinary(self) -> bool {
        !matches!(
            self,
            Self::Take { .. }
                | Self::ClaimUnknown { .. }
                | Self::MarkUnknown { .. }
                | Self::AdvanceUnknown { .. }
                | Self::NotWritten { .. }
                | Self::Deliver { answered: false, .. }
                | Self::Lose { .. }
                | Self::Callback { answered: false, .. }
                | Self::Edit
                | Self::Disable
                | Self::Reshard
                | Self::Stop { .. }
                | Self::Crash { .. }
                | Self::Restart { .. }
        )
    }
}

/// The steps out of one state.
pub struct Next<'a> {
    pub scenario: &'a Scenario,
    pub from: &'a State,
    pub found: Vec<(Step, State)>,
}

impl Next<'_> {
    /// One more step. What changes nothing is none.
    fn add(&mut self, step: Step, change: impl FnOnce(&mut State)) {
        let mut to = *self.from;
        change(&mut to);
        if to != *self.from {
            self.found.push((step, to));
        }
    }
}

pub fn next(scenario: &Scenario, from: &State) -> Vec<(Step, State)> {
    let mut next = Next { scenario, from, found: vec![] };
    for node in 0..NODES {
        if from.nodes[node].up {
            next.holder(node);
            next.send(node);
            next.resolver(node);
            next.executor(node);
            next.advance(node);
        }
    }
    next.wire();
    next.operator();
    next.found
}
