//! The state of an edge, by the state of its parent.

use super::definition::{IfFailed, On};
use super::graph::Edge;
use super::state::NodeState;
use super::why::Branch;

/// What an edge says to its join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EdgeState {
    /// The parent has not ended.
    Pending,
    /// A reason to start.
    Taken,
    /// This branch was not chosen.
    Dead(Branch),
    /// A failure is in the way.
    Blocked,
}

/// What an edge reads of its parent.
#[derive(Debug, Clone)]
pub(super) struct ParentFacts<'a> {
    pub state: NodeState,
    pub if_failed: IfFailed,
    pub result: Option<&'a str>,
    pub error: String,
}

/// The table of edges in the README.
pub(super) fn edge_state(edge: &Edge, parent: &ParentFacts<'_>) -> EdgeState {
    let tested = |text: Option<&str>| match edge.when.iter().try_for_each(|test| test.check(text)) {
        Ok(()) => EdgeState::Taken,
        Err(branch) => EdgeState::Dead(branch),
    };
    match (parent.state, edge.on) {
        // What was cancelled never ends; its children are cancelled with it.
        (NodeState::Waiting | NodeState::Held | NodeState::Running | NodeState::Cancelled, _) => EdgeState::Pending,
        (NodeState::Succeeded, On::Success | On::Always) => tested(parent.result),
        (NodeState::Succeeded, On::Failure) => EdgeState::Dead(Branch::Succeeded),
        (NodeState::Failed, On::Success) if parent.if_failed == IfFailed::Ignore => tested(None),
        (NodeState::Failed, On::Success) => EdgeState::Blocked,
        (NodeState::Failed, On::Failure | On::Always) => tested(Some(&parent.error)),
        (NodeState::Skipped, _) => EdgeState::Dead(Branch::Skipped),
        (NodeState::UpstreamFailed, On::Success) => EdgeState::Blocked,
        (NodeState::UpstreamFailed, On::Failure) => EdgeState::Dead(Branch::NotRun),
        (NodeState::UpstreamFailed, On::Always) => tested(None),
    }
}
