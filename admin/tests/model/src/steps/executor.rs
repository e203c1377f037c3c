//! What arrives at executors, and their results.

use super::advance::note_end;
use super::{Next, Step};
use crate::rules::Scenario;
use crate::state::{EXECUTORS, NODES, RUNS, RunState, State, bit};

impl Next<'_> {
    /// Requests on the wire arrive, answered or not, or are lost.
    pub fn wire(&mut self) {
        for run in 0..RUNS {
            for to in 0..EXECUTORS {
                if self.from.wire[run][to] == 0 {
                    continue;
                }
                let journals = self.scenario.journals;
                for answered in [true, false] {
                    self.add(Step::Deliver { run, to, answered }, |state| {
                        state.wire[run][to] -= 1;
                        receive(state, run, to, journals);
                        let heard = answered && state.nodes.iter().any(|node| node.awaits & bit(run) != 0);
                        if heard && state.runs[run].state == RunState::Sending {
                            state.runs[run].state = RunState::Running;
                        }
                        nobody_waits(state, run);
                    });
                }
                self.add(Step::Lose { run, to }, |state| {
                    state.wire[run][to] -= 1;
                    nobody_waits(state, run);
                });
            }
        }
    }

    /// Results are reported to any node, until one answers.
    pub fn executor(&mut self, node: usize) {
        for run in 0..RUNS {
            let reporting = (0..EXECUTORS).find(|of| {
                self.from.executors[*of].executions[run] > 0 && self.from.executors[*of].acked & bit(run) == 0
            });
            if let Some(of) = reporting {
                self.callback(node, run, of);
            }
            if self.from.nodes[node].held & bit(run) != 0 {
                let scenario = self.scenario;
                self.add(Step::WriteHeld { node, run }, |state| {
                    state.nodes[node].held &= !bit(run);
                    settle(scenario, state, node, run);
                });
            }
        }
    }

    fn callback(&mut self, node: usize, run: usize, of: usize) {
        if !self.scenario.rules.answer_after_commit {
            self.add(Step::Callback { node, run, answered: true }, |state| {
                state.executors[of].acked |= bit(run);
                state.nodes[node].held |= bit(run);
            });
            return;
        }
        let scenario = self.scenario;
        for answered in [true, false] {
            self.add(Step::Callback { node, run, answered }, |state| {
                settle(scenario, state, node, run);
                if answered {
                    state.executors[of].acked |= bit(run);
                }
            });
        }
    }
}

fn receive(state: &mut State, run: usize, to: usize, journals: bool) {
    let executor = &mut state.executors[to];
    executor.receipts[run] += 1;
    if !journals || executor.executions[run] == 0 {
        executor.executions[run] += 1;
    }
}

fn nobody_waits(state: &mut State, run: usize) {
    if state.wire[run].iter().all(|requests| *requests == 0) {
        for node in 0..NODES {
            state.nodes[node].awaits &= !bit(run);
        }
    }
}

/// The third committed write. A run that waits was never sent: a report about it changes nothing. Evidence for an earlier
/// attempt takes back a later one that is not sent.
fn settle(scenario: &Scenario, state: &mut State, node: usize, run: usize) {
    use RunState::{Cancelled, Claimed, Running, Sending, Succeeded, Unknown};
    if !matches!(state.runs[run].state, Sending | Running | Unknown) {
        return;
    }
    note_end(scenario, state, node, run, state.runs[run].state != Unknown);
    state.runs[run].state = Succeeded;
    if run.is_multiple_of(crate::state::ATTEMPTS) && state.runs[run + 1].state == Claimed {
        state.runs[run + 1].state = Cancelled;
    }
}
