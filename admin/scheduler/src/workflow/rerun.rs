//! Which nodes of an ended run are repeated.

use serde::{Deserialize, Serialize};

use super::graph::Graph;
use super::state::NodeState;

/// Where a repetition begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RerunFrom {
    /// At what failed.
    Failed,
    /// At this node.
    Node(String),
    /// At the first nodes.
    All,
}

/// Which nodes run again.
pub fn again(_graph: &Graph, _from: &RerunFrom, _before: &[(String, NodeState, bool)]) -> Vec<bool> {
    unimplemented!()
}
