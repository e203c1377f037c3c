//! The end of a workflow's run.

use super::definition::IfFailed;
use super::facts::Stop;
use super::graph::Graph;
use super::node_view::NodeView;
use super::state::NodeState;
use super::why::Why;

/// What the workflow's run becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// No node failed, except those whose failure is ignored.
    Succeeded {
        /// The filled `output`; left out, the results of the last nodes, and none if these are larger than 64 KiB.
        result: Option<String>,
    },
    /// A node failed or was too late to run, or the filled `output` cannot be stored.
    Failed {
        /// The first such node, why, and the number of nodes that were not run.
        message: String,
    },
    /// Its time was over.
    TimedOut {
        /// The number of nodes that were not run.
        message: String,
    },
    /// A user asked for it.
    Killed,
}

/// How the run ends, or `None` if a node waits, is held or runs; `output` is asked for only where no node failed.
pub(super) fn end(
    graph: &Graph,
    nodes: &[NodeView],
    stop: Option<Stop>,
    output: impl FnOnce() -> Result<Option<String>, String>,
) -> Option<End> {
    if nodes.iter().any(|node| !node.state.is_final()) {
        return None;
    }
    Some(match stop {
        Some(Stop::Killed) => End::Killed,
        Some(Stop::TimedOut) => End::TimedOut { message: with_left("the time of the workflow was over", nodes) },
        None => match failed(graph, nodes) {
            Some(message) => End::Failed { message: with_left(&message, nodes) },
            None => match output() {
                Ok(result) => End::Succeeded { result },
                Err(message) => End::Failed { message: format!("output: {message}") },
            },
        },
    })
}

/// The first node that failed, in the order of the graph, and how many others did. One that should have run, and is too late for it, is
/// as one that failed: without it the workflow is not done.
fn failed(graph: &Graph, nodes: &[NodeView]) -> Option<String> {
    let is_undone = |node: &NodeView| node.state == NodeState::Failed || node.why == Why::TooLate;
    let counts = |node: usize| is_undone(&nodes[node]) && graph.nodes[node].if_failed != IfFailed::Ignore;
    let mut failed = graph.order().iter().copied().filter(|&node| counts(node));
    let first = failed.next()?;
    let message = format!("{}: {}", graph.nodes[first].name, nodes[first].why);
    Some(match failed.count() {
        0 => message,
        1 => format!("{message}; 1 other node failed"),
        count => format!("{message}; {count} other nodes failed"),
    })
}

fn with_left(message: &str, nodes: &[NodeView]) -> String {
    let is_left = |node: &&NodeView| matches!(node.state, NodeState::UpstreamFailed | NodeState::Cancelled);
    match nodes.iter().filter(is_left).count() {
        0 => message.to_owned(),
        1 => format!("{message}; 1 node was not run"),
        count => format!("{message}; {count} nodes were not run"),
    }
}
