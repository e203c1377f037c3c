//! The badges of the states of nodes.

use carillon_scheduler::workflow::NodeState;

use crate::web::console::badge::Badge;

pub const fn node_badge(state: NodeState) -> Badge {
    let (word, tone, icon, moving, hint) = match state {
        NodeState::Waiting => ("node-waiting", "none", "clock", true, "node-waiting-hint"),
        NodeState::Held => ("node-held", "waiting", "pause", true, "node-held-hint"),
        NodeState::Running => ("node-running", "running", "running", true, "node-running-hint"),
        NodeState::Succeeded => ("node-succeeded", "ok", "check", false, "node-succeeded-hint"),
        NodeState::Failed => ("node-failed", "failed", "cross", false, "node-failed-hint"),
        NodeState::Skipped => ("node-skipped", "none", "dash", false, "node-skipped-hint"),
        NodeState::UpstreamFailed => ("node-not-run", "waiting", "warning", false, "node-not-run-hint"),
        NodeState::Cancelled => ("node-cancelled", "none", "stop", false, "node-cancelled-hint"),
    };
    Badge { word, tone, icon, moving, hint }
}
