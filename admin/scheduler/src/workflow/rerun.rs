//! Which nodes a further attempt of a workflow runs again.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::graph::Graph;
use super::state::NodeState;

/// Where a further attempt begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RerunFrom {
    /// What failed, was cancelled or could not run because of a failure, and what comes after it. Also an automatic retry.
    Failed,
    /// The same, and this node with what comes after it.
    Node(String),
    /// Everything.
    All,
}

/// Which nodes are not kept, by their positions in `graph`; the others keep their results as facts.
///
/// `before` has name and state of each node in the attempt before, and whether job and template of the node are unchanged since then. A node
/// that was skipped is derived again and may start this time; what comes after it stays unless it has another reason to run again. A name
/// that the graph does not have is ignored.
pub fn again(graph: &Graph, from: &RerunFrom, before: &[(String, NodeState, bool)]) -> Vec<bool> {
    let before: HashMap<&str, (NodeState, bool)> =
        before.iter().map(|(name, state, is_same)| (name.as_str(), (*state, *is_same))).collect();
    let mut is_again = vec![false; graph.nodes.len()];
    for &node in graph.order() {
        let name = graph.nodes[node].name.as_str();
        let is_kept = match before.get(name) {
            // New, or behind a change: the result does not belong to this definition.
            None | Some((_, false)) => false,
            Some((state, true)) => matches!(state, NodeState::Succeeded | NodeState::Skipped),
        };
        let is_chosen = match from {
            RerunFrom::Failed => false,
            RerunFrom::Node(chosen) => chosen == name,
            RerunFrom::All => true,
        };
        let is_behind = graph.nodes[node].after.iter().any(|edge| is_again[edge.from]);
        is_again[node] = !is_kept || is_chosen || is_behind;
    }
    let is_skipped = |name: &str| matches!(before.get(name), Some((NodeState::Skipped, _)));
    graph.nodes.iter().zip(is_again).map(|(node, is_again)| is_again || is_skipped(&node.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::WorkflowDraft;
    use super::*;

    /// `a -> b -> d`, `a -> c -> d`, `e` alone.
    fn graph() -> Graph {
        let draft = r#"{"nodes": {"a": {"job": 1}, "b": {"job": 1, "after": ["a"]}, "c": {"job": 1, "after": ["a"]},
            "d": {"job": 1, "after": ["b", "c"]}, "e": {"job": 1}}}"#;
        serde_json::from_str::<WorkflowDraft>(draft).unwrap().graph().unwrap()
    }

    /// The names of the nodes that run again, after an attempt with these states (s: succeeded, f: failed, u, k: skipped, c).
    fn names(from: &RerunFrom, states: &str, changed: &str) -> String {
        let state = |letter| match letter {
            's' => NodeState::Succeeded,
            'f' => NodeState::Failed,
            'u' => NodeState::UpstreamFailed,
            'k' => NodeState::Skipped,
            _ => NodeState::Cancelled,
        };
        let before: Vec<_> = "abcde"
            .chars()
            .zip(states.chars())
            .map(|(name, letter)| (name.to_string(), state(letter), !changed.contains(name)))
            .collect();
        "abcde".chars().zip(again(&graph(), from, &before)).filter(|(_, again)| *again).map(|(name, _)| name).collect()
    }

    #[test]
    fn failed_nodes_and_what_comes_after_them_run_again() {
        for (states, again) in
            [("sssss", ""), ("ssfus", "cd"), ("fuuus", "abcd"), ("ssfss", "cd"), ("ssscs", "d"), ("ssssc", "e")]
        {
            assert_eq!(names(&RerunFrom::Failed, states, ""), again, "{states}");
        }
    }

    #[test]
    fn a_named_node_runs_again_beside_what_failed() {
        let from = |name: &str| RerunFrom::Node(name.to_owned());
        assert_eq!(names(&from("b"), "sssss", ""), "bd");
        assert_eq!(names(&from("b"), "ssssf", ""), "bde");
        assert_eq!(names(&from("none"), "sssss", ""), "");
        assert_eq!(names(&RerunFrom::All, "sssss", ""), "abcde");
    }

    #[test]
    fn a_skipped_node_is_derived_again_and_keeps_what_comes_after_it() {
        assert_eq!(names(&RerunFrom::Failed, "sskss", ""), "c");
        assert_eq!(names(&RerunFrom::Node("a".to_owned()), "sskss", ""), "abcd");
    }

    #[test]
    fn what_is_new_or_changed_runs_again() {
        assert_eq!(names(&RerunFrom::Failed, "sssss", "b"), "bd");
        assert_eq!(names(&RerunFrom::Failed, "sss", ""), "de");
        assert_eq!(names(&RerunFrom::Failed, "sskss", "c"), "cd");
    }
}
