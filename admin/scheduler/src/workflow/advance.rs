//! The one function that drives a workflow: from what is known of the nodes to what is to be done.

use super::derive::Derivation;
use super::end::{End, end};
use super::graph::Graph;
use super::input::WorkflowInput;
use super::state::NodeState;
use super::why::Why;

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
    /// The states that the last call returned, [`NodeState::Waiting`] at first. Only a node that was recorded as skipped, upstream failed or
    /// failed can be too late.
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

/// What is to be done, and what is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advance {
    /// The state of each node. One that is in `start` is running.
    pub nodes: Vec<NodeView>,
    /// The nodes to start, each after its parents.
    pub start: Vec<Start>,
    /// The end of the run, if it has come.
    pub end: Option<End>,
}

/// The state of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    /// The state.
    pub state: NodeState,
    /// Its reason.
    pub why: Why,
}

/// A node to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Its position.
    pub node: usize,
    /// Its parameters. None: those of the job.
    pub params: Option<String>,
}

/// Derives the state of each node, which nodes start now, and whether the run has ended.
///
/// It is idempotent: once the starts are facts, the same call starts nothing. A node that is started always had no run before.
pub fn advance(graph: &Graph, facts: &Facts<'_>, input: &WorkflowInput<'_>) -> Advance {
    let derivation = Derivation::of(graph, facts, input);
    let end = end(graph, &derivation.nodes, facts.stop, || derivation.output());
    Advance { nodes: derivation.nodes, start: derivation.start, end }
}
