//! From what is known of the nodes to what is to be done.

use super::rules::Shape;
use super::state::{FlowState, NodeRun, Plan, Record, State, note_of_end, note_of_late};

/// What a transaction that takes this note finds and computes.
pub fn plan(shape: Shape, state: &State, flow: usize, note: u16) -> Plan {
    let mut records = state.records;
    for node in shape.nodes_of(flow) {
        let is_new = note & (note_of_end(node) | note_of_late(node)) != 0;
        if is_new || records[node] == Record::Running {
            records[node] = match state.runs[node] {
                NodeRun::None => records[node],
                NodeRun::Open => Record::Running,
                NodeRun::Succeeded => Record::Succeeded,
                NodeRun::Lost | NodeRun::Failed => Record::Failed,
            };
        }
    }
    let mut plan = Plan { records, changed: 0, starts: 0, end: None };
    if state.flows[flow].state == FlowState::Running {
        go_on(shape, state.flows[flow].kill_asked, flow, &mut plan);
    }
    for node in shape.nodes_of(flow).filter(|node| plan.records[*node] != state.records[*node]) {
        plan.changed |= 1 << node;
    }
    plan
}

fn go_on(shape: Shape, is_killed: bool, flow: usize, plan: &mut Plan) {
    for node in shape.nodes_of(flow) {
        if !matches!(plan.records[node], Record::Waiting | Record::UpstreamFailed | Record::Cancelled) {
            continue;
        }
        let parents = || shape.parents(node).iter().map(|parent| plan.records[*parent]);
        let have_ended = parents().all(Record::is_final);
        let may_start = parents().all(|parent| parent == Record::Succeeded);
        plan.records[node] = match (have_ended, may_start, is_killed) {
            (true, false, _) => Record::UpstreamFailed,
            (_, _, true) => Record::Cancelled,
            (false, _, false) => Record::Waiting,
            (true, true, false) => {
                plan.starts |= 1 << node;
                Record::Running
            }
        };
    }
    let all = || shape.nodes_of(flow).map(|node| plan.records[node]);
    plan.end = all().all(Record::is_final).then(|| match is_killed {
        true => FlowState::Killed,
        false if all().any(|record| record == Record::Failed) => FlowState::Failed,
        false => FlowState::Succeeded,
    });
}
