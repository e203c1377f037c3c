//! Random graphs, each valid, with at most three edges into a node.

use carillon_scheduler::WorkflowDraft;
use carillon_scheduler::workflow::{AfterDraft, IfFailed, Join, NodeDraft, NodeJob, On, Test};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The result of each node that succeeds, and its tests: whether all of them hold.
pub const RESULT: &str = "7";

/// One edge: the parent among the nodes before it, the kind, and a test that holds, one that does not, or none.
fn edge() -> impl Strategy<Value = (Index, On, Option<bool>)> {
    (any::<Index>(), select(On::ALL), prop::option::weighted(0.3, any::<bool>()))
}

type NodePlan = (Join, IfFailed, Vec<(Index, On, Option<bool>)>);

fn node(joins: &'static [Join], reactions: &'static [IfFailed]) -> impl Strategy<Value = NodePlan> {
    (select(joins), select(reactions), prop::collection::vec(edge(), 0..=3))
}

/// A workflow of one to nine nodes.
pub fn workflow(joins: &'static [Join], reactions: &'static [IfFailed]) -> impl Strategy<Value = WorkflowDraft> {
    prop::collection::vec(node(joins, reactions), 1..10).prop_map(|plans| {
        let nodes =
            plans.into_iter().enumerate().map(|(position, plan)| (format!("n{position}"), draft(position, plan)));
        WorkflowDraft { output: None, nodes: nodes.collect() }
    })
}

fn draft(position: usize, (join, if_failed, edges): NodePlan) -> NodeDraft {
    let mut node = NodeDraft { join, if_failed, ..NodeDraft::new(NodeJob::Id(1)) };
    for (parent, on, holds) in edges.into_iter().take(position * 3) {
        let when = holds.into_iter().map(test).collect();
        let after = AfterDraft { node: format!("n{}", parent.index(position)), on, when };
        if node.after.iter().all(|other| (&other.node, other.on) != (&after.node, after.on)) {
            node.after.push(after);
        }
    }
    node
}

fn test(holds: bool) -> Test {
    let operand = if holds { RESULT } else { "8" };
    serde_json::from_value(serde_json::json!({"path": "", "eq": operand})).unwrap()
}
