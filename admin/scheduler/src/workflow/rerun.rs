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

/// A node in the attempt before.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    /// How it ended.
    pub state: NodeState,
    /// A user has said so.
    pub is_decided: bool,
    /// Its job and its template are the same in the present definition.
    pub is_same: bool,
}

/// What a further attempt does with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Its end is a fact: it keeps its result, or stays skipped by hand.
    Keep,
    /// It was skipped by its edges, which decide again.
    Derive,
    /// It runs again.
    Run,
}

/// What a further attempt does with each node, by the positions in `graph`.
///
/// `before` has the nodes of the attempt before by name; a name that the graph does not have is ignored. What comes after a node that was
/// skipped stays unless it has another reason to run again. What a user has skipped stays skipped, also behind a node that runs again, unless
/// the user chooses it, or a node before it.
pub fn repeats(graph: &Graph, from: &RerunFrom, before: &HashMap<String, Before>) -> Vec<Repeat> {
    let mut repeats = vec![Repeat::Keep; graph.nodes.len()];
    let mut is_chosen = vec![false; graph.nodes.len()];
    for &node in graph.order() {
        let name = graph.nodes[node].name.as_str();
        let parents = || graph.nodes[node].after.iter().map(|edge| edge.from);
        is_chosen[node] = parents().any(|parent| is_chosen[parent])
            || match from {
                RerunFrom::Failed => false,
                RerunFrom::Node(chosen) => chosen == name,
                RerunFrom::All => true,
            };
        let runs_again = is_chosen[node] || parents().any(|parent| repeats[parent] == Repeat::Run);
        // A new node, or one that has changed, has no result that belongs to this definition.
        repeats[node] = match before.get(name).filter(|it| it.is_same) {
            Some(Before { state: NodeState::Skipped, is_decided: true, .. }) if !is_chosen[node] => Repeat::Keep,
            Some(Before { state: NodeState::Skipped, .. }) if !runs_again => Repeat::Derive,
            Some(Before { state: NodeState::Succeeded, .. }) if !runs_again => Repeat::Keep,
            _ => Repeat::Run,
        };
    }
    repeats
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

    /// The names of the nodes that run again, and of those that are derived again (in capitals), after an attempt with these states (s:
    /// succeeded, f: failed, u: upstream failed, k: skipped, h: skipped by hand, c: cancelled).
    fn names(from: &RerunFrom, states: &str, changed: &str) -> String {
        let state = |letter| match letter {
            's' => NodeState::Succeeded,
            'f' => NodeState::Failed,
            'u' => NodeState::UpstreamFailed,
            'k' | 'h' => NodeState::Skipped,
            _ => NodeState::Cancelled,
        };
        let before = "abcde".chars().zip(states.chars()).map(|(name, letter)| {
            let is_same = !changed.contains(name);
            (name.to_string(), Before { state: state(letter), is_decided: letter == 'h', is_same })
        });
        let repeats = repeats(&graph(), from, &before.collect());
        "abcde"
            .chars()
            .zip(repeats)
            .filter_map(|(name, repeat)| match repeat {
                Repeat::Keep => None,
                Repeat::Derive => Some(name.to_ascii_uppercase()),
                Repeat::Run => Some(name),
            })
            .collect()
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
        assert_eq!(names(&RerunFrom::Failed, "sskss", ""), "C");
        assert_eq!(names(&RerunFrom::Node("a".to_owned()), "sskss", ""), "abcd");
    }

    #[test]
    fn what_a_user_has_skipped_stays_skipped_unless_it_is_chosen() {
        let from = |name: &str| RerunFrom::Node(name.to_owned());
        assert_eq!(names(&RerunFrom::Failed, "sshsf", ""), "e");
        assert_eq!(names(&RerunFrom::Failed, "fuhuf", ""), "abde", "what is before it runs again");
        assert_eq!(names(&from("e"), "sshss", ""), "e");
        assert_eq!(names(&from("c"), "sshss", ""), "cd");
        assert_eq!(names(&from("a"), "sshss", ""), "abcd");
        assert_eq!(names(&RerunFrom::All, "sshss", ""), "abcde");
        assert_eq!(names(&RerunFrom::Failed, "sshss", "c"), "cd", "it is another job now");
    }

    #[test]
    fn what_is_new_or_changed_runs_again() {
        assert_eq!(names(&RerunFrom::Failed, "sssss", "b"), "bd");
        assert_eq!(names(&RerunFrom::Failed, "sss", ""), "de");
        assert_eq!(names(&RerunFrom::Failed, "sskss", "c"), "cd");
    }
}
