//! The one function that drives a workflow: from what is known of the nodes to what is to be done.

use super::derive::Derivation;
use super::end::{End, end};
use super::facts::Facts;
use super::graph::Graph;
use super::input::WorkflowInput;
use super::node_view::{NodeView, Start};

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

/// Derives the state of each node, which nodes start now, and whether the run has ended.
///
/// It is idempotent: once the starts are facts, the same call starts nothing. A node that is started always had no run before.
pub fn advance(graph: &Graph, facts: &Facts<'_>, input: &WorkflowInput<'_>) -> Advance {
    let derivation = Derivation::of(graph, facts, input);
    let end = end(graph, &derivation.nodes, facts.stop, || derivation.output());
    Advance { nodes: derivation.nodes, start: derivation.start, end }
}
