//! Marking and sending.

use super::{Next, Step};
use crate::rules::Rules;
use crate::state::{EXECUTORS, RUNS, Run, RunState, State, bit, instant_of};

impl Next<'_> {
    pub fn send(&mut self, node: usize) {
        for run in 0..RUNS {
            // A mark may be a little ahead of its instant; a request may not.
            let is_due = instant_of(run) <= self.from.now;
            if self.from.nodes[node].ring & bit(run) != 0 && instant_of(run) <= self.from.now + 1 {
                self.mark(node, run);
                if !self.scenario.rules.mark_before_send && is_due {
                    self.send_unmarked(node, run);
                }
            }
            self.reread(node, run);
            if self.from.nodes[node].to_send[run] != 0 {
                if is_due {
                    self.send_marked(node, run);
                }
                self.not_written(node, run);
            }
        }
    }

    fn mark(&mut self, node: usize, run: usize) {
        let rules = self.scenario.rules;
        // Each node routes to an executor of its own: that a successor would choose another one is what matters.
        let to = node;
        self.add(Step::Mark { node, run, to }, |state| {
            state.nodes[node].ring &= !bit(run);
            let token = new_token(state, rules, node);
            if mark(state, rules, node, run, token) && state.nodes[node].awaits & bit(run) == 0 {
                state.nodes[node].to_send[run] = token;
            }
        });
        if self.from.budget.unknown_commits > 0 {
            self.add(Step::MarkUnknown { node, run, to }, |state| {
                state.budget.unknown_commits -= 1;
                state.nodes[node].ring &= !bit(run);
                let token = new_token(state, rules, node);
                state.nodes[node].doubt[run] = token;
                mark(state, rules, node, run, token);
            });
        }
    }

    /// After an unknown commit: the rows with the own mark are there to be sent.
    fn reread(&mut self, node: usize, run: usize) {
        let token = self.from.nodes[node].doubt[run];
        if token == 0 {
            return;
        }
        self.add(Step::Reread { node, run }, |state| {
            state.nodes[node].doubt[run] = 0;
            if is_marked_by(&state.runs[run], token) {
                state.nodes[node].to_send[run] = token;
            }
        });
    }

    fn send_marked(&mut self, node: usize, run: usize) {
        let noted = self.from.runs[run].address.map(usize::from);
        for to in (0..EXECUTORS).filter(|to| noted.is_none_or(|noted| noted == *to)) {
            self.add(Step::Send { node, run, to }, |state| {
                state.nodes[node].to_send[run] = 0;
                write(state, node, run, to);
            });
        }
    }

    fn send_unmarked(&mut self, node: usize, run: usize) {
        if self.from.nodes[node].awaits & bit(run) != 0 {
            return;
        }
        let to = node;
        self.add(Step::SendUnmarked { node, run, to }, |state| {
            write(state, node, run, to);
        });
    }

    /// The request is certainly not written: the run goes back, by the own mark.
    fn not_written(&mut self, node: usize, run: usize) {
        if self.from.budget.not_written == 0 {
            return;
        }
        let token = self.from.nodes[node].to_send[run];
        let compares = self.scenario.rules.give_back_compares_mark;
        self.add(Step::NotWritten { node, run }, |state| {
            state.budget.not_written -= 1;
            state.nodes[node].to_send[run] = 0;
            let row = &mut state.runs[run];
            if is_marked_by(row, token) || !compares {
                row.state = RunState::Claimed;
                row.sends = row.sends.saturating_sub(1);
                (row.token, row.owner, row.address) = (0, None, None);
                if state.nodes[node].epochs.contains(&Some(row.epoch)) {
                    state.nodes[node].ring |= bit(run);
                }
            }
        });
    }
}

fn is_marked_by(row: &Run, token: u8) -> bool {
    row.state == RunState::Sending && row.token == token
}

fn new_token(state: &mut State, rules: Rules, node: usize) -> u8 {
    if !rules.token_for_each_mark {
        return node as u8 + 1;
    }
    state.marks += 1;
    state.marks
}

/// The second committed write. False: the row is not this node's to send.
fn mark(state: &mut State, rules: Rules, node: usize, run: usize, token: u8) -> bool {
    let epochs = state.nodes[node].epochs;
    let shard = state.job.shard;
    let row = &mut state.runs[run];
    if !rules.record_with_cursor && row.state == RunState::None {
        row.state = RunState::Claimed;
        row.shard = shard;
        row.epoch = epochs[usize::from(shard)].unwrap_or_default();
    }
    let is_open = row.state == RunState::Claimed || !rules.mark_checks_state;
    let is_own = epochs.contains(&Some(row.epoch)) || !rules.mark_checks_epoch;
    if row.state == RunState::None || !is_open || !is_own {
        return false;
    }
    row.state = RunState::Sending;
    row.token = token;
    row.owner = Some(node as u8);
    row.sends += 1;
    row.address = rules.address_with_mark.then_some(node as u8);
    true
}

/// The request leaves.
pub fn write(state: &mut State, node: usize, run: usize, to: usize) {
    state.wire[run][to] += 1;
    state.written[run] += 1;
    state.nodes[node].awaits |= bit(run);
}
