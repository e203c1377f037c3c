//! What must hold in every state.

use crate::rules::Scenario;
use crate::state::{ATTEMPTS, Node, RUNS, RunState, State, bit, first_run, instant_of};

/// What does not hold, if anything.
pub fn broken(scenario: &Scenario, state: &State) -> Option<&'static str> {
    if state.twice {
        return Some("I1: an instant is recorded twice");
    }
    let followed_twice = || {
        let twice = |counts: &[u8]| counts.iter().any(|count| *count > 1);
        (twice(&state.children) || twice(&state.links)).then_some("I13: something has followed twice")
    };
    unrecorded(scenario, state)
        .or_else(|| too_often(scenario, state))
        .or_else(|| forgotten(state))
        .or_else(followed_twice)
}

/// What one step may not do.
pub fn broken_by(from: &State, to: &State) -> Option<&'static str> {
    let is_final = |state| matches!(state, RunState::Succeeded | RunState::Cancelled);
    let reopened = (0..RUNS).any(|run| {
        let (before, after) = (from.runs[run].state, to.runs[run].state);
        is_final(before) && before != after
    });
    reopened.then_some("I8: a final state has changed")
}

/// Below the cursor everything is recorded, from it on nothing is.
fn unrecorded(scenario: &Scenario, state: &State) -> Option<&'static str> {
    for instant in 1..=scenario.instants {
        let run = first_run(instant);
        let is_recorded = state.runs[run].state != RunState::None;
        let is_under_way =
            state.nodes.iter().any(|node| node.ring & bit(run) != 0 || node.to_send[run] != 0 || node.doubt[run] != 0);
        if instant < state.job.cursor && !is_recorded && !is_under_way {
            return Some("I1: an instant below the cursor is not recorded");
        }
        if instant >= state.job.cursor && is_recorded {
            return Some("I1: an instant that is recorded will come again");
        }
    }
    None
}

fn too_often(scenario: &Scenario, state: &State) -> Option<&'static str> {
    for run in 0..RUNS {
        let row = state.runs[run];
        let receipts: u8 = state.executors.iter().map(|of| of.receipts[run]).sum();
        let executions: u8 = state.executors.iter().map(|of| of.executions[run]).sum();
        if receipts > 0 && row.state == RunState::None {
            return Some("I2: a run without a row was received");
        }
        if receipts > row.sends && scenario.rules.mark_before_send {
            return Some("I2: a run was received more often than its row says");
        }
        if executions > 1 {
            return Some("I2: a run was executed twice");
        }
        if receipts > 0 && instant_of(run) > state.now {
            return Some("I3: a run was received before its instant");
        }
    }
    for run in (0..RUNS).step_by(ATTEMPTS) {
        let executions: u8 =
            (run..run + ATTEMPTS).flat_map(|run| state.executors.iter().map(move |of| of.executions[run])).sum();
        if executions > 1 + scenario.retries {
            return Some("I2: a fire was executed more often than its job allows");
        }
    }
    None
}

fn forgotten(state: &State) -> Option<&'static str> {
    for run in 0..RUNS {
        let acked = state.executors.iter().any(|of| of.acked & bit(run) != 0);
        let is_held = state.nodes.iter().any(|node| node.held & bit(run) != 0);
        if acked && !is_held && state.runs[run].state != RunState::Succeeded {
            return Some("I4: a result that was acknowledged is lost");
        }
        let row = state.runs[run];
        let by_the_gone = row.owner.is_some_and(|node| state.nodes[usize::from(node)].gone);
        if row.state == RunState::Sending && by_the_gone && state.written[run] == 0 {
            return Some("I7: a node has stopped in good order with a marked run unsent");
        }
    }
    None
}

/// A node in good health holds the shard of the job, and needs no help of another node.
pub fn has_a_holder(state: &State) -> bool {
    let shard = usize::from(state.job.shard);
    let epoch = Some(state.leases[shard].epoch);
    let holds = |node: &Node| node.up && !node.stopping && node.epochs[shard] == epoch;
    state.nodes.iter().any(holds)
}

/// All instants have come, and everything that they caused has ended.
pub fn is_settled(scenario: &Scenario, state: &State) -> bool {
    use RunState::{Cancelled, None, Succeeded, Unknown};
    let ended = state.runs.iter().all(|run| matches!(run.state, None | Succeeded | Unknown | Cancelled));
    let told = (0..RUNS).all(|run| {
        let executed = state.executors.iter().any(|of| of.executions[run] > 0);
        !executed || state.runs[run].state == Succeeded
    });
    let followed = (0..RUNS).all(|run| {
        let has_succeeded = state.runs[run].state == Succeeded;
        !scenario.follows || !has_succeeded || state.children[run / ATTEMPTS] == 1
    });
    let all_planned = state.job.cursor > scenario.instants || !state.job.enabled;
    state.now == scenario.instants && all_planned && ended && told && followed
}
