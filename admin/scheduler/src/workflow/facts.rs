//! What is known of a workflow's run.

use super::state::NodeState;

/// What is known of a node for certain. A mark by hand is given as the fact that it makes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Fact {
    /// It has no run and no mark.
    #[default]
    NotStarted,
    /// Its fire has not ended.
    Open,
    /// Its fire succeeded, or a user marked it so.
    Succeeded {
        /// Its result, if it has one.
        result: Option<String>,
    },
    /// Its fire failed, or was killed, cancelled, lost or is unknown; or a user marked it so; or its parameters were too large.
    Failed {
        /// The error text.
        why: String,
    },
    /// A user skipped it.
    Skipped,
}

/// What is known of a workflow's run, by the positions of the nodes. A slice that is too short stands for default values.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The facts of the nodes.
    pub nodes: &'a [Fact],
    /// Which nodes have or had a run, also where a mark covers its outcome.
    pub started: &'a [bool],
    /// The states that the last call returned, [`NodeState::Waiting`] at first. Only a node that was recorded as skipped or upstream
    /// failed can be too late; one that failed without a run is a fact from then on.
    pub recorded: &'a [NodeState],
    /// Which nodes' jobs have parameters of their own.
    pub has_params: &'a [bool],
    /// Nothing starts until the run is released.
    pub is_held: bool,
    /// Nothing starts any more; the caller ends what runs.
    pub stop: Option<Stop>,
}

/// Why nothing starts any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// A user asked for the end.
    Killed,
    /// The time-out of the workflow is over.
    TimedOut,
}
