//! Time, edits, another number of shards, orderly and other ends of nodes.

use super::{Next, Step};
use crate::rules::Rules;
use crate::state::{NODES, Node, RUNS, Run, RunState, SHARDS, State, first_run, instant_of};

impl Next<'_> {
    pub fn operator(&mut self) {
        let scenario = self.scenario;
        if self.from.now < scenario.instants {
            self.add(Step::Tick, |state| state.now += 1);
        }
        if self.from.budget.edits > 0 {
            self.add(Step::Edit, |state| {
                state.budget.edits -= 1;
                edit(state, scenario.rules, scenario.instants);
            });
        }
        if self.from.budget.disables > 0 && self.from.job.enabled {
            self.add(Step::Disable, |state| {
                state.budget.disables -= 1;
                disable(state, scenario.rules, scenario.instants);
            });
        }
        if self.from.budget.reshards > 0 {
            self.add(Step::Reshard, |state| {
                state.budget.reshards -= 1;
                reshard(state, scenario.rules);
            });
        }
        for node in 0..NODES {
            self.end(node);
        }
    }

    fn end(&mut self, node: usize) {
        let it = self.from.nodes[node];
        if !it.up {
            if !it.gone {
                self.add(Step::Restart { node }, |state| state.nodes[node].up = true);
            }
            return;
        }
        if self.from.budget.crashes > 0 {
            self.add(Step::Crash { node }, |state| {
                state.budget.crashes -= 1;
                state.nodes[node] = Node::default();
            });
        }
        if self.from.budget.stops > 0 && !it.stopping {
            self.add(Step::Stop { node }, |state| {
                state.budget.stops -= 1;
                state.nodes[node].stopping = true;
                state.nodes[node].plan = None;
                for lease in state.leases.iter_mut().filter(|lease| lease.owner == Some(node as u8)) {
                    lease.owner = None;
                }
            });
        }
        let none = [0; RUNS];
        let has_finished = it.to_send == none && it.doubt == none && it.awaits == 0 && it.held == 0;
        if it.stopping && (has_finished || !self.scenario.rules.stop_finishes_sends) {
            self.add(Step::Exit { node }, |state| {
                state.nodes[node] = Node { gone: true, ..Node::default() };
            });
        }
    }
}

/// Instants that are overdue by the old definition, as a claim would record them.
fn plan_the_past(state: &mut State, rules: Rules, instants: u8) {
    if rules.edit_plans_the_past {
        while state.job.cursor <= state.now.min(instants) {
            let run = &mut state.runs[first_run(state.job.cursor)];
            state.twice |= run.state != RunState::None;
            *run = Run { state: RunState::Claimed, shard: state.job.shard, ..Run::default() };
            state.job.cursor += 1;
        }
    }
}

/// One transaction under the job's lock: from now on no run of it is marked.
fn disable(state: &mut State, rules: Rules, instants: u8) {
    plan_the_past(state, rules, instants);
    for run in state.runs.iter_mut().filter(|run| run.state == RunState::Claimed) {
        run.state = RunState::Cancelled;
    }
    state.job.enabled = false;
    state.job.revision += 1;
}

/// One transaction under the job's lock.
fn edit(state: &mut State, rules: Rules, instants: u8) {
    plan_the_past(state, rules, instants);
    let mut last = state.now;
    for run in (0..RUNS).step_by(crate::state::ATTEMPTS) {
        let is_ahead = instant_of(run) > state.now;
        if is_ahead && state.runs[run].state == RunState::Claimed && rules.edit_deletes_what_is_ahead {
            state.runs[run] = Run::default();
        }
        if is_ahead && state.runs[run].state != RunState::None && rules.edit_starts_after_the_recorded {
            last = last.max(instant_of(run));
        }
    }
    state.job.cursor = last + 1;
    state.job.revision += 1;
}

/// `carillon shards set`: the job goes to the other shard.
fn reshard(state: &mut State, rules: Rules) {
    let other = 1 - state.job.shard;
    let greatest = state.leases.iter().map(|lease| lease.epoch).max().unwrap_or_default();
    for shard in 0..SHARDS {
        state.leases[shard].owner = None;
        if rules.reshard_raises_epochs {
            state.leases[shard].epoch = greatest + 1;
        }
    }
    state.job.shard = other;
    if rules.reshard_moves_runs {
        for run in state.runs.iter_mut().filter(|run| run.state != RunState::None) {
            run.shard = other;
        }
    }
}
