//! Graphs, and what the protocol of their runs demands.

/// A graph, by the places of its nodes. Parents come before their children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// 1 and 2 after 0, 3 after both.
    Diamond,
    /// 2 after 0 and 1; 0 is a workflow: 5 after 3 and 4.
    Nested,
}

impl Shape {
    pub fn nodes(self) -> usize {
        match self {
            Self::Diamond => 4,
            Self::Nested => 6,
        }
    }

    pub fn parents(self, node: usize) -> &'static [usize] {
        match (self, node) {
            (Self::Diamond, 1 | 2) => &[0],
            (Self::Diamond, 3) => &[1, 2],
            (Self::Nested, 2) => &[0, 1],
            (Self::Nested, 5) => &[3, 4],
            _ => &[],
        }
    }

    /// The run of a workflow that a node belongs to: 0, or 1 for the inner one.
    pub fn flow(self, node: usize) -> usize {
        usize::from(self == Self::Nested && node > 2)
    }

    /// Whether the node is a workflow itself.
    pub fn is_inner(self, node: usize) -> bool {
        self == Self::Nested && node == 0
    }

    pub fn nodes_of(self, flow: usize) -> impl Iterator<Item = usize> {
        (0..self.nodes()).filter(move |node| self.flow(*node) == flow)
    }
}

/// Each rule can be taken away, to see that the checker misses it.
#[derive(Clone, Copy, Debug)]
pub struct WorkflowRules {
    /// A run begins only in `claimed`.
    pub hold_checks_state: bool,
    /// What goes on with a run, ends it or asks for its end has the lock of its row.
    pub row_lock: bool,
    /// What is to be done is computed under the lock, not before it.
    pub plan_under_lock: bool,
    /// One run for each node.
    pub unique_key: bool,
    /// The end of a node's run is noted in the transaction that writes it.
    pub end_notes_what_follows: bool,
    /// The end of the workflow is noted until it is written.
    pub end_is_noted: bool,
    /// The end of the workflow is written only if no node waits or runs.
    pub end_checks_nodes: bool,
}

impl WorkflowRules {
    pub const ALL: Self = Self {
        hold_checks_state: true,
        row_lock: true,
        plan_under_lock: true,
        unique_key: true,
        end_notes_what_follows: true,
        end_is_noted: true,
        end_checks_nodes: true,
    };
}

/// A graph, and how often each thing may go wrong in one trace.
#[derive(Clone, Copy, Debug)]
pub struct Workflow {
    pub name: &'static str,
    pub shape: Shape,
    pub rules: WorkflowRules,
    pub kills: u8,
    pub crashes: u8,
    /// Commits of which the node does not learn.
    pub unknown_commits: u8,
    /// Runs of nodes that are thought lost; the evidence that they have succeeded may come at any time.
    pub lost: u8,
}

impl Workflow {
    pub const QUIET: Self = Self {
        name: "diamond",
        shape: Shape::Diamond,
        rules: WorkflowRules::ALL,
        kills: 0,
        crashes: 0,
        unknown_commits: 0,
        lost: 0,
    };
}
