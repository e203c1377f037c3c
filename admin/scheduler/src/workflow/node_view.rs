//! What is derived of a node.

use super::state::NodeState;
use super::why::Why;

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
    /// A part for each text, which is its parameters; empty: as its job says.
    pub parts: Vec<String>,
}
