//! What must hold in every state of a workflow.

use super::rules::Workflow;
use super::state::{FLOWS, FlowState, NodeRun, State};

/// What does not hold, if anything.
pub fn broken(scenario: &Workflow, state: &State) -> Option<&'static str> {
    let shape = scenario.shape;
    if state.flows.iter().any(|flow| flow.begun > 1) {
        return Some("I14: a run has begun twice");
    }
    for node in 0..shape.nodes() {
        if state.starts[node] > 1 {
            return Some("I14: a node was started twice");
        }
        let parents = || shape.parents(node).iter();
        if state.starts[node] > 0 && parents().any(|parent| state.runs[*parent] != NodeRun::Succeeded) {
            return Some("I14: a node was started before its join held");
        }
    }
    for flow in 0..FLOWS {
        let runs = || shape.nodes_of(flow).map(|node| state.runs[node]);
        let is_wrong = match state.flows[flow].state {
            FlowState::Succeeded => runs().any(|run| run != NodeRun::Succeeded),
            FlowState::Failed => state.lost == scenario.lost && state.kills == scenario.kills,
            _ => false,
        };
        if is_wrong {
            return Some("I14: a run has the wrong end");
        }
        if state.flows[flow].state.has_ended() && runs().any(|run| run == NodeRun::Open) {
            return Some("I14: a run has ended while a node of it runs");
        }
    }
    None
}

/// What a step must not do.
pub fn broken_by(scenario: &Workflow, from: &State, to: &State) -> Option<&'static str> {
    for node in (0..scenario.shape.nodes()).filter(|node| to.starts[*node] > from.starts[*node]) {
        let flow = &from.flows[scenario.shape.flow(node)];
        if flow.kill_asked {
            return Some("I14: a node was started after the kill");
        }
        if flow.state != FlowState::Running {
            return Some("I14: a node was started after the end");
        }
    }
    let changed = |flow: usize| from.flows[flow].state.has_ended() && to.flows[flow] != from.flows[flow];
    (0..FLOWS).any(changed).then_some("I8: the final state of a workflow's run changed")
}

/// The run has ended, and so has all that it has begun.
pub fn is_settled(state: &State) -> bool {
    let is_over = |flow: usize| state.flows[flow].state.has_ended();
    let inner = state.flows[1].state == FlowState::None || is_over(1);
    let noted = state.notes != 0 || state.processes.iter().any(|it| it.notes != 0 || it.transaction.is_some());
    is_over(0) && inner && !noted
}
