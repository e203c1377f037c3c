//! The graph of a workflow, checked.

use super::definition::{IfFailed, Join, NodeJob, On, Test};
use super::template::Template;

/// A workflow whose names, edges and templates are right. Nodes are named by their positions in the draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// The nodes, in the order of the draft.
    pub nodes: Vec<Node>,
    /// The template of the result, if the draft has one.
    pub output: Option<Template>,
    /// Each node after its parents.
    pub(super) order: Vec<usize>,
    /// The children of each node, each once, ascending.
    pub(super) children: Vec<Vec<usize>>,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The job that it runs.
    pub job: NodeJob,
    /// The template of its parameters. None: see [`NodeDraft::params`](super::NodeDraft::params).
    pub params: Option<Template>,
    /// The template of the list of its parts.
    pub for_each: Option<Template>,
    /// The edges into it.
    pub after: Vec<Edge>,
    /// How many of them are needed.
    pub join: Join,
    /// What its failure means.
    pub if_failed: IfFailed,
}

/// An edge into a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The parent.
    pub from: usize,
    /// The end of the parent at which it is taken.
    pub on: On,
    /// What must hold of the parent's result.
    pub when: Vec<Test>,
}

impl Node {
    /// Whether it does the same as a node of another version of its workflow: what it has done need not be done again.
    pub fn is_same_work(&self, other: &Self) -> bool {
        (&self.job, &self.params, &self.for_each) == (&other.job, &other.params, &other.for_each)
    }
}

impl Graph {
    /// Whether the node of this name is there, in both graphs or in none, and [does the same](Node::is_same_work).
    pub fn is_same_node(&self, other: &Self, name: &str) -> bool {
        match (self.find(name), other.find(name)) {
            (Some(own), Some(at)) => self.nodes[own].is_same_work(&other.nodes[at]),
            (own, at) => own == at,
        }
    }

    pub(super) fn new(nodes: Vec<Node>, output: Option<Template>, order: Vec<usize>) -> Self {
        let mut children = vec![vec![]; nodes.len()];
        for (position, node) in nodes.iter().enumerate() {
            for edge in &node.after {
                // Several edges between the same two nodes are one step.
                if children[edge.from].last() != Some(&position) {
                    children[edge.from].push(position);
                }
            }
        }
        Self { nodes, output, order, children }
    }

    /// The position of a node.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// The nodes that have an edge from this one, ascending.
    pub fn children(&self, node: usize) -> &[usize] {
        &self.children[node]
    }

    /// All nodes, each after its parents.
    pub fn order(&self) -> &[usize] {
        &self.order
    }
}
