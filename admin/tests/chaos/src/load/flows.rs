//! Workflows: four graphs of twelve nodes, each every ten seconds, one of whose nodes is a workflow too.

use serde_json::{Value, json};

use super::APP;
use super::jobs::{Planned, step};
use crate::executor::work::FLAWED;

/// Workflows that fire by themselves. Each is begun by the node that holds its shard.
const FLOWS: u64 = 4;

/// The jobs that the nodes run. They never fire by themselves.
pub fn steps() -> Vec<Planned> {
    let step = |number: usize| Planned {
        group: "step",
        draft: json!({
            "app": APP, "name": format!("step {number}"), "handler": "work", "schedule": {"kind": "none"},
            "retries": if number.is_multiple_of(2) { 0 } else { 1 },
        }),
    };
    (0..4).map(step).collect()
}

/// The workflow that is a node of the others.
pub fn inner(steps: &[i64]) -> Planned {
    let mut nodes = json!({
        "n00": {}, "n01": {},
        "n02": {"after": ["n00", "n01"], "join": "any"},
    });
    give(&mut nodes, steps);
    let draft = json!({
        "app": APP, "name": "inner", "schedule": {"kind": "none"}, "retries": 0, "workflow": {"nodes": nodes},
    });
    Planned { group: "flow", draft }
}

/// Joins of both kinds, handlers of failures, a failure that is ignored, a clean-up behind everything. The names are in the order of the
/// nodes.
pub fn flows(steps: &[i64], inner: i64, misfire_seconds: i64) -> Vec<Planned> {
    let always = |node: &str| json!({"node": node, "on": "always"});
    let failure = |node: &str| json!({"node": node, "on": "failure"});
    let mut nodes = json!({
        "n00": {},
        "n01": {"after": ["n00"]},
        "n02": {"after": ["n00"], "if_failed": "ignore"},
        "n03": {"after": ["n00"], "job": inner},
        "n04": {"after": ["n01", "n02"]},
        "n05": {"after": ["n01", "n02"], "join": "any"},
        "n06": {"after": [failure("n01")]},
        "n07": {"after": [always("n04"), always("n05")]},
        "n08": {"after": ["n03"]},
        "n09": {"after": [failure("n03"), always("n06")], "join": "any"},
        "n10": {"after": ["n08", "n04"], "join": "any"},
        "n11": {"after": [always("n07"), always("n09"), always("n10")]},
    });
    give(&mut nodes, steps);
    let flow = |number: u64| Planned {
        group: "flow",
        draft: json!({
            "app": APP, "name": format!("flow {number}"), "schedule": step(2 * number, 10), "retries": 0,
            "misfire_threshold_seconds": misfire_seconds, "workflow": {"nodes": nodes},
        }),
    };
    (0..FLOWS).map(flow).collect()
}

/// Each node that has none gets one of the jobs.
fn give(nodes: &mut Value, steps: &[i64]) {
    let nodes = nodes.as_object_mut().into_iter().flat_map(|nodes| nodes.values_mut());
    for (node, step) in nodes.zip(steps.iter().cycle()) {
        if node.get("job").is_none() {
            node["job"] = (*step).into();
            node["params"] = FLAWED.into();
        }
    }
}
